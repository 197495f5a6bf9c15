import COpenSSL
package import ProbeBase

/// The TLS session of one connection. It processes bytes in memory and does not use a socket.
///
/// Confined to the same thread as its context.
package final class TLSSession {
    /// The result of a call that performs a part of the TLS protocol.
    package enum Progress: Equatable, Sendable {
        case done
        /// More bytes are needed from the peer.
        case waits
        /// The peer's close_notify was read.
        case notified
        case failed(TLSError)
    }

    /// The maximum number of plaintext bytes in a record (RFC 8446, section 5.1).
    package static let longestRecord = 16_384

    private let context: TLSContext
    private let pointer: OpaquePointer
    private let log: SessionLog
    /// The writer of forged records. Once a record has been forged, OpenSSL's sequence number is wrong, so OpenSSL's
    /// output is dropped.
    private var forger: RecordWriter?

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - indicated: the name that a client sends as SNI.
    ///   - verified: the name or numeric address that the server's certificate must be valid for.
    package init(_ context: TLSContext, indicated: String? = nil, verified: String? = nil) throws(TLSError) {
        self.context = context
        log = SessionLog(isServer: context.isServer)
        guard let made = probe_tls_session_new(context.pointer, log.observer) else { throw .last() }
        pointer = made
        // If this call fails, `deinit` frees the pointer.
        if probe_tls_session_set_name(made, indicated, verified) != 1 { throw .last() }
    }

    deinit { probe_tls_session_free(pointer) }

    /// Makes a client offer to resume the session that its server established in an earlier connection.
    package func resume(_ earlier: TLSSession) { probe_tls_session_resume(pointer, earlier.pointer) }

    // MARK: The network

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        // This call fails only if memory is exhausted. Swift's own allocations end the process in that situation, too.
        _ = probe_tls_session_receive(pointer, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    package func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive($0) } }

    /// The number of received bytes that do not form a complete record yet, or that follow close_notify.
    package var unread: Int { probe_tls_session_unread(pointer) }

    /// Removes and returns the bytes that must be sent.
    package func takeOutput() -> [UInt8] {
        let count = probe_tls_session_send(pointer, nil, 0)
        // Initializing an array without capacity would write to the empty array that all threads share.
        guard count > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, taken in
            taken = probe_tls_session_send(pointer, buffer.baseAddress, count)
        }
        return forger == nil ? bytes : []
    }

    // MARK: Operations

    package func handshake() -> Progress { progress(probe_tls_session_handshake(pointer)) }

    /// Passes decrypted bytes to `body` until no more are available.
    ///
    /// - Returns: the reason why no more are available; never `done`.
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

    /// Encrypts bytes as records with `recordLength` plaintext bytes each; the last record may be shorter.
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

    /// Sends a KeyUpdate (TLS 1.3 only).
    package func updateKey(isRequested: Bool) -> Progress {
        progress(probe_tls_session_update_key(pointer, isRequested ? 1 : 0))
    }

    /// Sends a session ticket (TLS 1.3 servers only).
    package func sendTicket() -> Progress { progress(probe_tls_session_send_ticket(pointer)) }

    /// Sends a HelloRequest (TLS 1.2 servers only).
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

    /// Returns an encrypted record of any type with any content. Once a record has been forged, every later record of
    /// this side must be forged, too.
    ///
    /// - Throws: an error if the handshake is not complete, or the context does not allow forged records.
    package func forge(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        if var writer = forger {
            let record = try writer.record(type: type, bytes)
            forger = writer
            return record
        }
        guard context.isForging, var secret = log.ownSecret, version == .tls13 else {
            throw TLSError("records can be forged only on a TLS 1.3 connection, after its handshake")
        }
        for _ in 0..<log.ownUpdates { secret = try RecordWriter.updated(secret) }
        var writer = try RecordWriter(secret: secret, sequence: log.ownRecords)
        let record = try writer.record(type: type, bytes)
        forger = writer
        return record
    }

    /// Whether a record has been forged.
    package var hasForged: Bool { forger != nil }

    // MARK: State

    /// The lines of the key log (NSS's format), in chronological order.
    package var secrets: [String] { log.secrets }
    /// Whether a client has received a session ticket (TLS 1.3), which shows that its server has accepted the whole
    /// handshake.
    package var hasTicket: Bool { log.hasTicket }
    /// The peer's alerts, each with the number of plaintext bytes that the peer sent before it.
    package var alertsReceived: [(alert: TLSAlert, offset: Int)] { log.received }
    /// The number of plaintext bytes that have been read.
    package var bytesRead: Int { log.read }
    package var alertsSent: [TLSAlert] { log.sent }

    package var version: TLSVersion? { TLSVersion(number: probe_tls_session_version(pointer)) }

    /// OpenSSL's name for the cipher suite, such as `TLS_AES_256_GCM_SHA384`; `nil` until a cipher suite has been
    /// negotiated.
    package var cipher: String? { probe_tls_session_cipher(pointer).map { String(cString: $0) } }

    /// The name that the client sent as SNI.
    package var indicatedName: String? { probe_tls_session_indicated_name(pointer).map { String(cString: $0) } }

    /// The protocol negotiated by ALPN.
    package var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        let count = probe_tls_session_alpn(pointer, &bytes)
        guard let bytes, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Whether a handshake is in progress: the first handshake, or a later one that a HelloRequest requested.
    package var isInHandshake: Bool { probe_tls_session_is_in_handshake(pointer) != 0 }

    package var hasPeerCertificate: Bool { probe_tls_session_has_peer_certificate(pointer) != 0 }

    package var isResumed: Bool { probe_tls_session_is_resumed(pointer) != 0 }

    /// The reason why the verification of the peer's certificate failed, such as `certificate has expired`; `nil` if it
    /// succeeded or did not take place.
    package var verificationProblem: String? { probe_tls_session_verification(pointer).map { String(cString: $0) } }
}
