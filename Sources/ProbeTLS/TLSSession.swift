import COpenSSL
package import ProbeBase

/// One connection's TLS: bytes in, bytes out, and no socket.
///
/// Confined to one thread, as its context is.
package final class TLSSession {
    /// How a call ended.
    package enum Progress: Equatable, Sendable {
        case done
        /// More has to come from the peer.
        case waits
        /// The peer's close_notify was read.
        case notified
        case failed(TLSError)
    }

    /// The most that a record carries (RFC 8446, 5.1).
    package static let longestRecord = 16_384

    private let context: TLSContext
    private let pointer: OpaquePointer
    private let log: SessionLog
    /// Once a record was forged, OpenSSL no longer knows the number of the next one, and what it writes is dropped.
    private var forger: RecordWriter?

    /// - Parameters:
    ///   - indicated: what a client sends as SNI.
    ///   - verified: the name or numeric address that a client wants the certificate to be for.
    package init(_ context: TLSContext, indicated: String? = nil, verified: String? = nil) throws(TLSError) {
        self.context = context
        log = SessionLog(isServer: context.isServer)
        guard let made = probe_tls_session_new(context.pointer, log.observer) else { throw .last() }
        pointer = made
        // Where it throws, `deinit` frees it.
        if probe_tls_session_set_name(made, indicated, verified) != 1 { throw .last() }
    }

    deinit { probe_tls_session_free(pointer) }

    /// A client offers to resume what its server gave the other session.
    package func resume(_ earlier: TLSSession) { probe_tls_session_resume(pointer, earlier.pointer) }

    // MARK: The network

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        // Memory alone can be short here, and then Swift ends the process as well.
        _ = probe_tls_session_receive(pointer, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    package func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive($0) } }

    /// Bytes of the network that are no whole record yet, or that stand behind close_notify.
    package var unread: Int { probe_tls_session_unread(pointer) }

    /// Takes the bytes that have to be sent.
    package func takeOutput() -> [UInt8] {
        let count = probe_tls_session_send(pointer, nil, 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, taken in
            taken = count == 0 ? 0 : probe_tls_session_send(pointer, buffer.baseAddress, count)
        }
        return forger == nil ? bytes : []
    }

    // MARK: What is done

    package func handshake() -> Progress { progress(probe_tls_session_handshake(pointer)) }

    /// Passes on what has come, until no more is there.
    ///
    /// - Returns: `done` never.
    package func read(_ body: (UnsafeRawBufferPointer) -> Void) -> Progress {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            while true {
                let count = probe_tls_session_read(pointer, start, buffer.count)
                if count <= 0 { return progress(count) }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
                log.read += Int(count)
            }
        }
    }

    /// Encrypts them as records of this many bytes each; the last may have fewer.
    package func write(_ bytes: [UInt8], recordLength: Int = TLSSession.longestRecord) -> Progress {
        bytes.withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                let count = min(recordLength, bytes.count - position)
                let result = probe_tls_session_write(pointer, bytes.baseAddress.map { $0 + position }, count)
                if result != 0 { return progress(result) }
                position += count
            }
            return .done
        }
    }

    /// Sends close_notify.
    package func notify() -> Progress { progress(probe_tls_session_notify(pointer)) }

    /// TLS 1.3 only.
    package func updateKey(isRequested: Bool) -> Progress {
        progress(probe_tls_session_update_key(pointer, isRequested ? 1 : 0))
    }

    /// Of a server of TLS 1.3 only.
    package func sendTicket() -> Progress { progress(probe_tls_session_send_ticket(pointer)) }

    /// Of a server of TLS 1.2 only.
    package func requestHello() -> Progress { progress(probe_tls_session_request_hello(pointer)) }

    private func progress(_ result: Int32) -> Progress {
        switch result {
        case 0: .done
        case -1: .waits
        case -2: .notified
        default: .failed(.last())
        }
    }

    // MARK: Forged records

    /// A record of any type with any content, encrypted. From now on every record of this side has to be made so.
    ///
    /// - Throws: if the handshake is not done, or the context was not made for it.
    package func forge(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        if var writer = forger {
            let record = try writer.record(type: type, bytes)
            forger = writer
            return record
        }
        guard context.isForging, var secret = log.ownSecret, version == .tls13 else {
            throw TLSError("records can be forged on a connection of TLS 1.3 only, behind its handshake")
        }
        for _ in 0..<log.ownUpdates { secret = try RecordWriter.updated(secret) }
        var writer = try RecordWriter(secret: secret, sequence: log.ownRecords)
        let record = try writer.record(type: type, bytes)
        forger = writer
        return record
    }

    /// A record was forged.
    package var hasForged: Bool { forger != nil }

    // MARK: What is known

    /// Lines of the key log (NSS's format), as they came.
    package var secrets: [String] { log.secrets }
    /// A client was given a ticket (TLS 1.3): its server has accepted all that the handshake said.
    package var hasTicket: Bool { log.hasTicket }
    /// The peer's alerts, with the bytes in the clear that it sent before each.
    package var alertsReceived: [(alert: TLSAlert, offset: Int)] { log.received }
    /// Bytes in the clear that have been read.
    package var bytesRead: Int { log.read }
    package var alertsSent: [TLSAlert] { log.sent }

    package var version: TLSVersion? { TLSVersion(number: probe_tls_session_version(pointer)) }

    /// OpenSSL's name, as `TLS_AES_256_GCM_SHA384`; nil before one was chosen.
    package var cipher: String? { probe_tls_session_cipher(pointer).map { String(cString: $0) } }

    /// What the client has sent as SNI.
    package var indicatedName: String? { probe_tls_session_indicated_name(pointer).map { String(cString: $0) } }

    /// The protocol that was agreed on by ALPN.
    package var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        let count = probe_tls_session_alpn(pointer, &bytes)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// A handshake is under way, the first one or one that a HelloRequest asked for.
    package var isInHandshake: Bool { probe_tls_session_is_in_handshake(pointer) != 0 }

    package var hasPeerCertificate: Bool { probe_tls_session_has_peer_certificate(pointer) != 0 }

    package var isResumed: Bool { probe_tls_session_is_resumed(pointer) != 0 }

    /// What is wrong with the peer's certificate, as `certificate has expired`; nil if nothing is, or it was not verified.
    package var verificationProblem: String? { probe_tls_session_verification(pointer).map { String(cString: $0) } }
}
