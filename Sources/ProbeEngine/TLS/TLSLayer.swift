import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// TLS on a connection of the harness. Decrypted bytes go into the connection's buffer, and bytes to send are queued
/// after what the script has sent.
///
/// Confined to the reactor's thread.
final class TLSLayer: ConnectionLayer {
    enum Handshake {
        case underWay
        case done(MonotonicTime)
        case failed(String, MonotonicTime)
    }

    /// How this side's first flight is sent.
    struct FirstFlight {
        /// The number of bytes of the flight to send, with nothing more of the handshake after them.
        var stopsAfter: Int?
        /// Makes the send. An error that it throws is a mistake in the script.
        var operation: ([UInt8]) throws(Finding) -> SendOperation
    }

    /// What steps have expected of a connection.
    struct ConsumedEvents {
        var events: Int
        var end: Bool
        var handshakeFailure: Bool
    }

    /// What steps had expected when another connection of the same name followed; `nil` for the current connection.
    var taken: ConsumedEvents?
    let session: TLSSession
    let isServer: Bool
    /// Whether a client verifies its server's certificate.
    let verifies: Bool
    let certificate: CaseTLS.OwnCertificate
    private unowned let connection: Connection
    private(set) var handshake = Handshake.underWay
    /// Whether the peer's FIN arrived before the handshake was done.
    private var hasEndedInHandshake = false
    /// When the peer's close_notify was read.
    private(set) var notifiedAt: MonotonicTime?
    /// The alerts, close_notify and failures received while the script had the connection open, in order.
    private(set) var events: [TLSEvent] = []
    private var alertsSeen = 0
    /// Why TLS failed after the handshake, and when.
    private(set) var failure: (reason: String, at: MonotonicTime)?
    /// The number of bytes received on the connection before TLS.
    private let bytesBefore: Int
    /// The bytes received after the peer's close_notify or fatal alert.
    private(set) var bytesAfterEnd: TLSEvent.BytesAfterEnd?
    /// The number of bytes that can no longer be taken, because they arrived after close_notify or a failure.
    private(set) var held = 0
    private var boundary = TLSRecordBoundary()
    /// The beginning of the bytes received last, for the message if they are not TLS.
    private(set) var lastBytes: [UInt8] = []
    /// Whether this side has sent its close_notify.
    private(set) var hasNotified = false
    /// The first bytes received, for the message if they are not TLS.
    private(set) var firstBytes: [UInt8] = []
    /// The fault of the next record, and the step that asked for it, until the record is sent.
    private(set) var fault: (kind: TLSRecordFault, span: SourceSpan)?
    private var firstFlight: FirstFlight?
    /// The first flight, if the script specifies how it is sent.
    private(set) var sentFlight: SendOperation?
    /// The beginning of the first flight, if the script stops the flight there.
    private(set) var stoppedFlight: SendOperation?
    /// Receives problems with the faults of a flight.
    private let raise: (Finding) -> Void
    /// Receives a flight that the script controls when it is sent.
    private let noteFlight: (SendOperation) -> Void

    init(
        _ session: TLSSession, isServer: Bool, verifies: Bool, certificate: CaseTLS.OwnCertificate,
        on connection: Connection, firstFlight: FirstFlight? = nil,
        noteFlight: @escaping (SendOperation) -> Void = { _ in }, raise: @escaping (Finding) -> Void
    ) {
        (self.session, self.isServer, self.verifies, self.connection) = (session, isServer, verifies, connection)
        self.certificate = certificate
        bytesBefore = connection.receiveBuffer.received
        (self.firstFlight, self.noteFlight, self.raise) = (firstFlight, noteFlight, raise)
    }

    /// Begins the handshake: a client sends its first flight.
    func start() {
        proceed(at: .now)
        flush()
    }

    // MARK: The network

    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        boundary.add(bytes)
        if firstBytes.count < 16 { firstBytes += bytes.prefix(16 - firstBytes.count) }
        lastBytes = Array(bytes.prefix(16))
        if notifiedAt != nil {
            noteBytesAfterEnd(bytes.count, at: time)
        } else if isDead {
            // Bytes after a failure of this side may already have been in flight.
            if events.last?.isEnd ?? false { noteBytesAfterEnd(bytes.count, at: time) } else { held += bytes.count }
        } else {
            session.receive(bytes)
            readDecrypted(at: time, append: append)
        }
    }

    /// Whether OpenSSL reads nothing more, so that bytes passed to it would only accumulate.
    private var isDead: Bool { if case .failed = handshake { true } else { failure != nil } }

    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        // OpenSSL is not informed: it would answer a FIN without close_notify with an alert, to a peer that may be
        // gone.
        guard case .underWay = handshake else { return }
        hasEndedInHandshake = true
        handshake = .failed("the peer closed the connection (FIN) before the handshake was complete", time)
    }

    private func readDecrypted(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        proceed(at: time)
        if case .done = handshake, failure == nil {
            let progress = session.read(append)
            noteAlerts(at: time)
            switch progress {
            case .done, .waits: break
            case .notified:
                guard notifiedAt == nil else { break }
                notifiedAt = time
                note(.notify, after: session.bytesRead, at: time)
                if session.unread > 0 { noteBytesAfterEnd(session.unread, at: time) }
            case .failed(let error):
                let reason = Self.words(of: error, lastBytes)
                failure = (reason, time)
                noteFailure(error, reason, at: time)
            }
        }
        flush()
    }

    /// Notes bytes after close_notify or a fatal alert. The peer must not send any (RFC 8446, 6.1), and they are not
    /// read as TLS.
    private func noteBytesAfterEnd(_ count: Int, at time: MonotonicTime) {
        held += count
        guard connection.isOpen else { return }
        bytesAfterEnd = TLSEvent.BytesAfterEnd(
            isAlert: notifiedAt == nil, count: count + (bytesAfterEnd?.count ?? 0), time: bytesAfterEnd?.time ?? time)
    }

    /// Returns the reason of an error, with the received bytes if they are not TLS. OpenSSL reports plain text as a
    /// wrong version number.
    private static func words(of error: TLSError, _ bytes: [UInt8]) -> String {
        guard let first = bytes.first, !(20...24).contains(first) else { return error.reason }
        return "\(error.reason): received \(Escaped.phrase(bytes)) instead of a TLS record"
    }

    private func proceed(at time: MonotonicTime) {
        guard case .underWay = handshake else { return }
        let progress = session.handshake()
        noteAlerts(at: time)
        switch progress {
        case .done: handshake = .done(time)
        case .waits: break
        case .notified: fail(TLSError("the peer sent close_notify before the handshake was complete"), at: time)
        case .failed(let error):
            let why = session.verificationProblem.map { $0 == error.reason ? $0 : "\(error.reason): \($0)" }
            fail(TLSError(why ?? error.reason, alert: error.alert), at: time)
        }
    }

    private func fail(_ error: TLSError, at time: MonotonicTime) {
        handshake = .failed(error.reason, time)
        noteFailure(error, error.reason, at: time)
    }

    // MARK: News

    private func note(_ what: TLSEvent.Kind, after count: Int, at time: MonotonicTime) {
        if connection.isOpen { events.append(TLSEvent(what: what, offset: bytesBefore + count, time: time)) }
    }

    private func noteAlerts(at time: MonotonicTime) {
        let received = session.alertsReceived
        for (alert, offset) in received[alertsSeen...] where alert.code != TLSAlert.closeNotify {
            note(.alert(alert, isEnd: false), after: offset, at: time)
        }
        alertsSeen = received.count
    }

    /// Notes a failure. If the peer's alert caused it, the alert is marked as the end instead of adding another event.
    private func noteFailure(_ error: TLSError, _ reason: String, at time: MonotonicTime) {
        if let code = error.alert, case .alert(let alert, _)? = events.last?.what, alert.code == code {
            events[events.count - 1].what = .alert(alert, isEnd: true)
            if session.unread > 0 { noteBytesAfterEnd(session.unread, at: time) }
        } else {
            note(.failure(reason), after: session.bytesRead, at: time)
        }
    }

    /// Whether the script specifies how the first flight is sent, and the flight has not been sent.
    var hasUnsentFlight: Bool { firstFlight != nil }

    /// Notes that the peer closed before TLS began.
    func noteEarlierEnd() {
        guard case .eof(let time)? = connection.readEnd else { return }
        receiveEnd(at: time) { _ in }
    }

    /// Queues the bytes that the session must send.
    func flush() {
        let written = session.takeOutput()
        guard !written.isEmpty, connection.isOpen, !connection.isHalfClosed, stoppedFlight == nil else { return }
        let bytes = output(written)
        // An alert is not a flight.
        guard let flight = firstFlight, bytes[0] != 21 else {
            send(SendOperation(pieces: [bytes], isUrgent: false, now: .now))
            return
        }
        firstFlight = nil
        var shown = bytes
        if let count = flight.stopsAfter {
            if count >= bytes.count {
                raise(
                    Finding(
                        .error,
                        "the first flight has only \(bytes.count) bytes: stopping after \(count) withholds nothing")
                )
                return
            }
            shown = Array(bytes.prefix(count))
        }
        do throws(Finding) {
            // An empty send is impossible, so nothing is sent at all.
            let operation =
                shown.isEmpty
                ? SendOperation(pieces: [[]], isUrgent: false, now: .now)
                : try flight.operation(shown)
            if flight.stopsAfter != nil { stoppedFlight = operation }
            sentFlight = operation
            if !shown.isEmpty {
                send(operation)
                noteFlight(operation)
            }
        } catch {
            raise(error)
        }
    }

    private func send(_ operation: SendOperation) { connection.send(operation) }

    // MARK: What the script sends

    /// Encrypts bytes, and returns the records to send.
    func seal(_ bytes: [UInt8], recordLength: Int?) throws(TLSError) -> [UInt8] {
        if hasNotified || session.hasForged {
            var records: [UInt8] = []
            let length = recordLength ?? TLSSession.longestRecord
            var position = 0
            while position < bytes.count {
                let end = min(bytes.count, position + length)
                records += try session.forge(type: 23, Array(bytes[position..<end]))
                position = end
            }
            return output(records)
        }
        switch session.write(bytes, recordLength: recordLength ?? TLSSession.longestRecord) {
        case .done: break
        case .failed(let error): throw error
        case .waits: throw TLSError("a handshake is in progress")
        case .notified: throw TLSError("the peer has ended the connection")
        }
        return output(session.takeOutput())
    }

    /// Returns a record that OpenSSL itself does not write.
    func forge(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        output(try session.forge(type: type, bytes))
    }

    /// Returns the record of a close_notify.
    func notify() throws(TLSError) -> [UInt8] {
        hasNotified = true
        if session.hasForged { return output(try session.forge(type: 21, [1, 0])) }
        if case .failed(let error) = session.notify() { throw error }
        return output(session.takeOutput())
    }

    /// Makes a message after the handshake, and returns the bytes to send.
    func make(_ message: TLSMessage) throws(TLSError) -> [UInt8] {
        if session.version != message.version {
            throw TLSError(
                "the message belongs to TLS \(message.version.rawValue), but the connection uses TLS \(session.version?.rawValue ?? "?")"
            )
        }
        if message.isServerOnly, !isServer { throw TLSError("only a server can send this message") }
        let progress =
            switch message {
            case .keyUpdate(let isRequested): session.updateKey(isRequested: isRequested)
            case .ticket: session.sendTicket()
            case .helloRequest: session.requestHello()
            }
        if case .failed(let error) = progress { throw error }
        return output(session.takeOutput())
    }

    /// Applies a fault to the next record that is sent.
    func apply(_ fault: TLSRecordFault, at span: SourceSpan) { self.fault = (fault, span) }

    /// Returns records as they are sent: with the fault that a step asked for in the first one.
    private func output(_ bytes: [UInt8]) -> [UInt8] {
        guard let kind = fault?.kind, bytes.count > 5 else { return bytes }
        fault = nil
        var bytes = bytes
        let length = min(Int(bytes[3]) << 8 | Int(bytes[4]), bytes.count - 5)
        switch kind {
        case .corruptNextRecord: bytes[5 + length / 2] ^= 1
        }
        return bytes
    }

    // MARK: What is known

    var awaitsAnswer: Bool { isDone && failure == nil && notifiedAt == nil }

    var isDone: Bool { if case .done = handshake { true } else { false } }

    /// The number of bytes of an incomplete record at the end of the received bytes.
    var unfinished: Int { isDone && notifiedAt == nil && failure == nil ? boundary.unfinished : 0 }

    /// Why and when the handshake failed, or the peer refused it after its end: a TLS 1.3 server sees a client's
    /// certificate last.
    var refusal: (reason: String, at: MonotonicTime)? {
        switch handshake {
        case .failed(let reason, let time): (reason, time)
        // A server has judged the certificate by then. The server may still refuse a client's certificate with an
        // alert.
        case .done: isServer || !events.contains { $0.isAlert } ? nil : failure
        case .underWay: nil
        }
    }

    /// Whether the peer has continued after the handshake, and so has not refused it.
    var isAccepted: Bool { connection.receiveBuffer.received > 0 || session.hasTicket || notifiedAt != nil }

    /// The codes of all alerts of the connection, from both sides.
    var alertCodes: [UInt8] { (session.alertsReceived.map(\.alert) + session.alertsSent).map(\.code) }

    /// A summary for the timeline, such as `TLS 1.3, TLS_AES_256_GCM_SHA384, SNI localhost, ALPN imap`.
    var summary: String {
        var parts = ["TLS \(session.version?.rawValue ?? "?")", session.cipher ?? "no cipher"]
        if let name = session.indicatedName { parts.append("SNI \(Escaped.text(name.utf8))") }
        if let name = session.applicationProtocol { parts.append("ALPN \(Escaped.text(name.utf8))") }
        if session.isResumed { parts.append("resumed") }
        return parts.joined(separator: ", ")
    }

    /// Returns the value of `tls.version` or another TLS property; `nil` before the handshake is done.
    func property(_ name: String) -> Value? {
        guard isDone else { return nil }
        let text: String? =
            switch name {
            case "tls.version": session.version?.rawValue
            case "tls.cipher": session.cipher
            case "tls.alpn": session.applicationProtocol ?? ""
            case "tls.sni": session.indicatedName ?? ""
            case "tls.resumed": session.isResumed ? "yes" : "no"
            default: nil
            }
        return text.map { .bytes(Array($0.utf8)) }
    }
}
