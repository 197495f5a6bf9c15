import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// A framing that takes effect once a subject has delivered a given number of messages.
final class AnnouncedFraming {
    let framing: Framing
    let wanted: Int
    fileprivate(set) var delivered = 0

    fileprivate init(_ framing: Framing, after count: Int) { (self.framing, wanted) = (framing, count) }

    var hasBegun: Bool { delivered >= wanted }
}

/// A connection or a listener of the transport under test, with the operations that it was given and the events that it
/// has reported.
final class SubjectActor {
    let name: String
    /// The number that identifies the subject to the driver.
    let number: Int
    let target: Target?
    let configuration: SubjectOptions
    let isListener: Bool
    /// The TLS options in the subject's declaration.
    let tls: TLSOptions?

    /// The framing that a step has set; `nil` for the scenario's framing.
    var framing: Framing?
    /// The framing that takes effect once the subject has delivered a given number of additional messages.
    private var announcedFraming: AnnouncedFraming?
    /// What the subject was asked to do, and what it reported.
    var reports = SubjectReports()
    /// Each `start` that the subject was given, used to identify the subject's connections in the capture.
    var starts: [SubjectStart] = []
    /// The name of the listening subject that accepted this connection.
    var acceptedBy: String?
    /// The port on which the connection was accepted; `acceptIndex` is the number of connections previously accepted on
    /// this port.
    var acceptPort: UInt16?
    var acceptIndex = 0
    /// The endpoints to which the target's host name may resolve; `nil` if the subject was given an address.
    var named: EndpointPattern?
    /// The time at which the subject reported the accepted connection (wall clock, in nanoseconds).
    var acceptedAt: UInt64?
    /// The number of connections that the subject has accepted, by port.
    var acceptCounts: [UInt16: Int] = [:]
    /// The numeric address that the subject listens on.
    var listeningHost = "127.0.0.1"
    /// The ports that the subject has reported. The last port is the current one.
    var ports: [UInt16] = []
    var port: UInt16? { ports.last }
    /// The address of a subject that listens on a Unix socket.
    var listeningSocket: SocketAddress?
    /// The address at which a client can reach the subject; `nil` before it listens.
    var address: SocketAddress? {
        if let listeningSocket { return wasStarted ? listeningSocket : nil }
        guard let port, let address = SocketAddress(numeric: listeningHost, port: port) else { return nil }
        return address.reachable
    }

    var wasStarted: Bool { reports.wasStarted }
    var hasStarted: Bool { reports.hasStarted }
    var stopped: SubjectReports.Stop? { reports.stopped }
    var pending: [(event: SubjectReport.Event, time: MonotonicTime)] { reports.pending }

    init(
        name: String, number: Int, target: Target?, configuration: SubjectOptions, isListener: Bool,
        tls: TLSOptions? = nil
    ) {
        self.name = name
        self.number = number
        self.target = target
        self.configuration = configuration
        self.isListener = isListener
        self.tls = tls
    }

    /// Applies a change of framing that the subject has accepted, either at once or after `count` messages.
    ///
    /// - Returns: the framing that takes effect later; `nil` if the change takes effect at once.
    @discardableResult
    func change(framing: Framing, behind count: Int?) -> AnnouncedFraming? {
        announcedFraming = count.map { AnnouncedFraming(framing, after: $0) }
        if count == nil { self.framing = framing }
        return announcedFraming
    }

    /// Resets the framing to the scenario's framing after the connection has been lost.
    func beginAgain() { (framing, announcedFraming) = (nil, nil) }

    /// Counts a delivery. Must be called for each line, message and piece of data that the subject delivers.
    func delivered() {
        guard let announced = announcedFraming else { return }
        announced.delivered += 1
        guard announced.hasBegun else { return }
        (framing, announcedFraming) = (announced.framing, nil)
    }

    /// Returns an actor for a new connection or listener under the same name, after the earlier one has stopped.
    func successor(number: Int) -> SubjectActor {
        let next = SubjectActor(
            name: name, number: number, target: target, configuration: configuration, isListener: isListener, tls: tls)
        (next.starts, next.ports, next.acceptCounts) = (starts, ports, acceptCounts)
        return next
    }

    // MARK: Findings

    /// Returns the finding for an unexpected stop.
    func unexpectedStop(_ reason: StopReason, _ detail: String?) -> Finding {
        let word = SubjectText.word(reason)
        return Finding(
            .failed, "\(name) reported `stopped \(word)`, but no later step expects it",
            details: SubjectText.words(detail),
            hints: [
                reports.isStopping
                    ? "report the reason `stopped` after a stop was requested, whatever else happens"
                    : "add `\(name) expect stopped \(word)` if the stop is intended"
            ])
    }

    /// Returns the finding for the unexpected refusal of an operation.
    func refused(_ code: String, at span: SourceSpan) -> Finding {
        let text = Escaped.text(code.utf8)
        return Finding(
            .failed, at: span, "\(name) answered this op with the error \(text)",
            hints: ["add `\(name) expect error \(text)` if the error is intended"])
    }
}
