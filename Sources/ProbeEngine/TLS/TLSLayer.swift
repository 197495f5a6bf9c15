import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// The TLS layer of one of the harness's connections. It appends decrypted bytes to the connection's buffer, and queues
/// encrypted bytes after the data that the script has already sent.
///
/// This type is confined to the reactor's thread.
final class TLSLayer: ConnectionLayer {
    enum Handshake {
        case underWay
        case done(MonotonicTime)
        case failed(String, MonotonicTime)
    }

    /// The way in which the harness sends its first flight.
    struct FirstFlight {
        /// The number of bytes of the flight to send, after which the handshake stops; `nil` to send the whole flight.
        var stopsAfter: Int?
        /// Creates the send operation for the flight. If the function throws an error, the script has a mistake.
        var operation: ([UInt8]) throws(Finding) -> SendOperation
    }

    /// The events of a connection that steps have expected.
    struct ConsumedEvents {
        var events: Int
        var end: Bool
        var handshakeFailure: Bool
    }

    /// The events that steps had expected by the time the actor was connected again; `nil` for the actor's current
    /// connection.
    var taken: ConsumedEvents?
    let session: TLSSession
    let isServer: Bool
    /// Whether a client verifies its server's certificate.
    let verifies: Bool
    let certificate: CaseTLS.OwnCertificate
    private unowned let connection: Connection
    private(set) var handshake = Handshake.underWay
    /// Whether the peer's FIN arrived before the handshake was complete.
    private var hasEndedInHandshake = false
    /// The time at which the peer's close_notify was read.
    private(set) var notifiedAt: MonotonicTime?
    /// The alerts (including close_notify) and failures, in order, that were received while the script had the
    /// connection open.
    private(set) var events: [TLSEvent] = []
    private var alertsSeen = 0
    /// The reason and the time of a TLS failure after the handshake.
    private(set) var failure: (reason: String, at: MonotonicTime)?
    /// The number of bytes received on the connection before TLS began.
    private let bytesBefore: Int
    /// The bytes received after the peer's close_notify or fatal alert.
    private(set) var bytesAfterEnd: TLSEvent.BytesAfterEnd?
    /// The number of bytes that steps can never consume, because they arrived after close_notify or a failure.
    private(set) var held = 0
    private var boundary = TLSRecordBoundary()
    /// The beginning of the most recently received bytes, which error messages quote if the bytes are not TLS.
    private(set) var lastBytes: [UInt8] = []
    /// Whether the harness has sent its close_notify.
    private(set) var hasNotified = false
    /// The first bytes received, which error messages quote if the bytes are not TLS.
    private(set) var firstBytes: [UInt8] = []
    /// The fault to apply to the next record, with the step that requested it; `nil` after the record has been sent.
    private(set) var fault: (kind: TLSRecordFault, span: SourceSpan)?
    private var firstFlight: FirstFlight?
    /// The send operation of the first flight, if the script specifies how the flight is sent.
    private(set) var sentFlight: SendOperation?
    /// The send operation of the first flight, if the script stops the flight after a given number of bytes.
    private(set) var stoppedFlight: SendOperation?
    /// Called with a finding if the faults specified for a flight can't be applied to it.
    private let raise: (Finding) -> Void
    /// Called when a flight that the script controls is sent.
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

    /// Begins the handshake. A client sends its first flight.
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
            // Bytes that arrive after a failure on this side may already have been in flight.
            if events.last?.isEnd ?? false { noteBytesAfterEnd(bytes.count, at: time) } else { held += bytes.count }
        } else {
            session.receive(bytes)
            readDecrypted(at: time, append: append)
        }
    }

    /// Whether OpenSSL has stopped reading. If it has, bytes passed to OpenSSL would only accumulate.
    private var isDead: Bool { if case .failed = handshake { true } else { failure != nil } }

    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        // OpenSSL is not informed about the FIN. In response to a FIN without a preceding close_notify, OpenSSL would
        // send an alert, although the peer may no longer be reachable.
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

    /// Records bytes that were received after close_notify or a fatal alert. These bytes are not read as TLS; a peer
    /// must not send any (RFC 8446, section 6.1).
    private func noteBytesAfterEnd(_ count: Int, at time: MonotonicTime) {
        held += count
        guard connection.isOpen else { return }
        bytesAfterEnd = TLSEvent.BytesAfterEnd(
            isAlert: notifiedAt == nil, count: count + (bytesAfterEnd?.count ?? 0), time: bytesAfterEnd?.time ?? time)
    }

    /// Returns the reason for an error, with the received bytes if they are not TLS. For plaintext, OpenSSL reports
    /// only a wrong version number.
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

    // MARK: Events

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

    /// Records a failure. If the failure was caused by the peer's alert, marks the alert as the end of TLS instead of
    /// adding another event.
    private func noteFailure(_ error: TLSError, _ reason: String, at time: MonotonicTime) {
        if let code = error.alert, case .alert(let alert, _)? = events.last?.what, alert.code == code {
            events[events.count - 1].what = .alert(alert, isEnd: true)
            if session.unread > 0 { noteBytesAfterEnd(session.unread, at: time) }
        } else {
            note(.failure(reason), after: session.bytesRead, at: time)
        }
    }

    /// Whether the script specifies how the first flight is sent, and the flight has yet to be sent.
    var hasUnsentFlight: Bool { firstFlight != nil }

    /// Records that the peer closed the connection before TLS began.
    func noteEarlierEnd() {
        guard case .eof(let time)? = connection.readEnd else { return }
        receiveEnd(at: time) { _ in }
    }

    /// Queues the bytes that the session must send.
    func flush() {
        let written = session.takeOutput()
        guard !written.isEmpty, connection.isOpen, !connection.isHalfClosed, stoppedFlight == nil else { return }
        let bytes = output(written)
        // An alert does not count as the first flight.
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
            // A send operation needs at least one byte, so an empty flight is not sent.
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

    /// Encrypts the given plaintext, and returns the records to send.
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

    /// Returns an encrypted record that OpenSSL would not produce.
    func forge(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        output(try session.forge(type: type, bytes))
    }

    /// Returns the record that contains a close_notify.
    func notify() throws(TLSError) -> [UInt8] {
        hasNotified = true
        if session.hasForged { return output(try session.forge(type: 21, [1, 0])) }
        if case .failed(let error) = session.notify() { throw error }
        return output(session.takeOutput())
    }

    /// Creates a post-handshake message, and returns the bytes to send.
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

    /// Returns the records to send. If a step has requested a fault, the fault is applied to the first record.
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

    // MARK: State

    var awaitsAnswer: Bool { isDone && failure == nil && notifiedAt == nil }

    var isDone: Bool { if case .done = handshake { true } else { false } }

    /// The number of received bytes of an incomplete TLS record.
    var unfinished: Int { isDone && notifiedAt == nil && failure == nil ? boundary.unfinished : 0 }

    /// The reason and the time of a failed handshake, or of the peer's refusal after the handshake. A refusal can
    /// follow the handshake because a TLS 1.3 server verifies a client's certificate after the client has completed the
    /// handshake.
    var refusal: (reason: String, at: MonotonicTime)? {
        switch handshake {
        case .failed(let reason, let time): (reason, time)
        // A client's handshake is done only after the client has verified the server's certificate. A server may still
        // refuse the client's certificate with an alert.
        case .done: isServer || !events.contains { $0.isAlert } ? nil : failure
        case .underWay: nil
        }
    }

    /// Whether data, a ticket or close_notify from the peer shows that the peer has accepted the handshake.
    var isAccepted: Bool { connection.receiveBuffer.received > 0 || session.hasTicket || notifiedAt != nil }

    /// The codes of all alerts sent by either side of the connection.
    var alertCodes: [UInt8] { (session.alertsReceived.map(\.alert) + session.alertsSent).map(\.code) }

    /// A summary for the timeline, such as `TLS 1.3, TLS_AES_256_GCM_SHA384, SNI localhost, ALPN imap`.
    var summary: String {
        var parts = ["TLS \(session.version?.rawValue ?? "?")", session.cipher ?? "no cipher"]
        if let name = session.indicatedName { parts.append("SNI \(Escaped.text(name.utf8))") }
        if let name = session.applicationProtocol { parts.append("ALPN \(Escaped.text(name.utf8))") }
        if session.isResumed { parts.append("resumed") }
        return parts.joined(separator: ", ")
    }

    /// Returns the value of a TLS property such as `tls.version`; `nil` before the handshake is complete.
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
