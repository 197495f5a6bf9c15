import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// TLS on a connection of the harness: what it reads goes into the connection's buffer as clear text, and what it has to send is queued
/// behind what the script has sent.
///
/// Confined to the reactor's thread.
final class TLSLayer: ConnectionLayer {
    enum Handshake {
        case underWay
        case done(MonotonicTime)
        case failed(String, MonotonicTime)
    }

    /// How the first flight of this side leaves.
    struct FirstFlight {
        /// So many bytes of it, and no more of the handshake.
        var stopsAfter: Int?
        /// Makes the send; what it throws is the script's fault.
        var operation: ([UInt8]) throws(Finding) -> SendOperation
    }

    let session: TLSSession
    let isServer: Bool
    /// A client looks at its server's certificate.
    let verifies: Bool
    private unowned let connection: Connection
    private(set) var handshake = Handshake.underWay
    /// When the peer's close_notify was read.
    private(set) var notifiedAt: MonotonicTime?
    /// The peer's alerts other than close_notify, with the times at which they were read.
    private(set) var alerts: [(alert: TLSAlert, at: MonotonicTime)] = []
    private var alertsSeen = 0
    /// What it failed by behind the handshake.
    private(set) var failure: (reason: String, at: MonotonicTime)?
    /// This side has sent its close_notify.
    private(set) var hasNotified = false
    /// The first bytes that came, for the message where they are no TLS.
    private(set) var firstBytes: [UInt8] = []
    /// One bit of the next record is to be flipped.
    private var corruptsNext = false
    private var firstFlight: FirstFlight?
    /// Of the first flight, where it was to be stopped.
    private(set) var stoppedFlight: SendOperation?
    /// Hears what is wrong with a flight's faults, and what was sent of it.
    private let raise: (Finding) -> Void
    private let noteFlight: (SendOperation) -> Void

    init(
        _ session: TLSSession, isServer: Bool, verifies: Bool, on connection: Connection,
        firstFlight: FirstFlight? = nil,
        noteFlight: @escaping (SendOperation) -> Void = { _ in }, raise: @escaping (Finding) -> Void
    ) {
        (self.session, self.isServer, self.verifies, self.connection) = (session, isServer, verifies, connection)
        (self.firstFlight, self.noteFlight, self.raise) = (firstFlight, noteFlight, raise)
    }

    /// Begins the handshake: a client sends its first flight.
    func start() {
        proceed(at: .now)
        flush()
    }

    // MARK: The network

    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        if firstBytes.count < 16 { firstBytes += bytes.prefix(16 - firstBytes.count) }
        session.receive(bytes)
        takeIn(at: time, append: append)
    }

    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        session.receiveEnd()
        takeIn(at: time, append: append)
        if case .underWay = handshake {
            handshake = .failed("the peer closed (FIN) before the handshake was done", time)
        }
    }

    private func takeIn(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        proceed(at: time)
        if case .done = handshake, failure == nil {
            switch session.read(append) {
            case .done, .waits, .truncated: break
            case .notified: if notifiedAt == nil { notifiedAt = time }
            case .failed(let error): failure = (error.reason, time)
            }
        }
        noteAlerts(at: time)
        flush()
    }

    private func proceed(at time: MonotonicTime) {
        guard case .underWay = handshake else { return }
        switch session.handshake() {
        case .done: handshake = .done(time)
        case .waits: break
        case .notified: handshake = .failed("the peer sent close_notify before the handshake was done", time)
        case .truncated: handshake = .failed("the peer closed (FIN) before the handshake was done", time)
        case .failed(let error):
            let why = session.verificationProblem.map { $0 == error.reason ? $0 : "\(error.reason): \($0)" }
            handshake = .failed(why ?? error.reason, time)
        }
    }

    private func noteAlerts(at time: MonotonicTime) {
        for alert in session.alertsReceived[alertsSeen...] where alert.code != TLSAlert.closeNotify {
            alerts.append((alert, time))
        }
        alertsSeen = session.alertsReceived.count
    }

    /// Queues what the engine has to send.
    func flush() {
        let bytes = output(session.takeOutput())
        guard !bytes.isEmpty, connection.isOpen, !connection.isHalfClosed else { return }
        guard let flight = firstFlight else {
            if stoppedFlight == nil { send(SendOperation(pieces: [bytes], pace: .atOnce, isUrgent: false, now: .now)) }
            return
        }
        firstFlight = nil
        var shown = bytes
        if let count = flight.stopsAfter {
            if count >= bytes.count {
                raise(
                    Finding(
                        .error, "the first flight has \(bytes.count) bytes: stopping after \(count) keeps nothing back")
                )
                return
            }
            shown = Array(bytes.prefix(count))
        }
        do throws(Finding) {
            // An empty send can't be made: nothing is sent at all.
            let operation =
                shown.isEmpty
                ? SendOperation(pieces: [[]], pace: .atOnce, isUrgent: false, now: .now)
                : try flight.operation(shown)
            if flight.stopsAfter != nil { stoppedFlight = operation }
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

    /// Encrypts, and returns what has to be sent.
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
        case .waits: throw TLSError("a handshake is under way")
        case .notified, .truncated: throw TLSError("the peer has ended the connection")
        }
        return output(session.takeOutput())
    }

    /// A record that OpenSSL does not write.
    func forge(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        output(try session.forge(type: type, bytes))
    }

    /// close_notify.
    func notify() throws(TLSError) -> [UInt8] {
        hasNotified = true
        if session.hasForged { return output(try session.forge(type: 21, [1, 0])) }
        if case .failed(let error) = session.notify() { throw error }
        return output(session.takeOutput())
    }

    /// A message of the handshake behind it; returns what has to be sent.
    func message(_ make: (TLSSession) -> TLSSession.Progress) throws(TLSError) -> [UInt8] {
        if case .failed(let error) = make(session) { throw error }
        return output(session.takeOutput())
    }

    func corruptNextRecord() { corruptsNext = true }

    /// Flips a bit of the first record's ciphertext, if that was asked for.
    private func output(_ bytes: [UInt8]) -> [UInt8] {
        guard corruptsNext, bytes.count > 5 else { return bytes }
        corruptsNext = false
        var bytes = bytes
        let length = min(Int(bytes[3]) << 8 | Int(bytes[4]), bytes.count - 5)
        bytes[5 + length / 2] ^= 1
        return bytes
    }

    // MARK: What is known

    var awaitsAnswer: Bool { isDone && failure == nil && notifiedAt == nil }

    var isDone: Bool { if case .done = handshake { true } else { false } }

    /// The handshake failed, or the peer refused it behind its end: a server of TLS 1.3 sees a client's certificate last.
    var refusal: (reason: String, at: MonotonicTime)? {
        switch handshake {
        case .failed(let reason, let time): (reason, time)
        case .done: failure
        case .underWay: nil
        }
    }

    /// The peer has gone on behind the handshake, so that it has not refused it.
    var isAccepted: Bool { connection.receiveBuffer.received > 0 || session.hasTicket || notifiedAt != nil }

    /// Every alert of the connection, of both sides.
    var alertCodes: [UInt8] { (session.alertsReceived + session.alertsSent).map(\.code) }

    /// As the timeline shows it: `TLS 1.3, TLS_AES_256_GCM_SHA384, SNI localhost, ALPN imap`.
    var summary: String {
        var parts = ["TLS \(session.version?.rawValue ?? "?")", session.cipher ?? "no cipher"]
        if let name = session.indicatedName { parts.append("SNI \(Escaped.text(name.utf8))") }
        if let name = session.applicationProtocol { parts.append("ALPN \(Escaped.text(name.utf8))") }
        if session.isResumed { parts.append("resumed") }
        return parts.joined(separator: ", ")
    }

    /// `tls.version` and its kin; nil before the handshake is done.
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
