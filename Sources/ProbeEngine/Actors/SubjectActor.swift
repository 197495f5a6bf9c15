import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// A framing that takes effect once a subject has delivered a number of messages.
final class AnnouncedFraming {
    let framing: Framing
    let wanted: Int
    fileprivate(set) var delivered = 0

    fileprivate init(_ framing: Framing, after count: Int) { (self.framing, wanted) = (framing, count) }

    var hasBegun: Bool { delivered >= wanted }
}

/// A connection of the subject, or its listener: what it was told and what it said.
final class SubjectActor {
    let name: String
    /// The number by which the driver knows it.
    let number: Int
    let target: Target?
    let configuration: SubjectOptions
    let isListener: Bool
    /// Of its declaration.
    let tls: TLSOptions?

    /// That a step has set; nil: the scenario's.
    var framing: Framing?
    /// The framing that takes effect when it has delivered so many more messages.
    private var announcedFraming: AnnouncedFraming?
    /// What it was told and what it said.
    var reports = SubjectReports()
    /// Each `start` that it was told, for the look at the wire.
    var starts: [SubjectStart] = []
    /// The listening subject that accepted it, and how many it had accepted before.
    var acceptedBy: String?
    /// The port at which it was accepted, and how many had been accepted there before.
    var acceptPort: UInt16?
    var acceptIndex = 0
    /// Where the hosts listen whose name it was told; nil: it was told an address.
    var named: EndpointPattern?
    /// When it said so (wall clock, in nanoseconds).
    var acceptedAt: UInt64?
    /// By port: how many it has accepted.
    var acceptCounts: [UInt16: Int] = [:]
    /// Where it listens: a numeric address, and the ports that it has said: the last one is that of now.
    var listeningHost = "127.0.0.1"
    var ports: [UInt16] = []
    var port: UInt16? { ports.last }
    /// That of a subject that listens on a Unix socket.
    var listeningSocket: SocketAddress?
    /// Where a client reaches it; nil before it listens.
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

    /// It has taken a change of its framing: at once, or behind so many messages.
    ///
    /// - Returns: what is to take effect later.
    @discardableResult
    func change(framing: Framing, behind count: Int?) -> AnnouncedFraming? {
        announcedFraming = count.map { AnnouncedFraming(framing, after: $0) }
        if count == nil { self.framing = framing }
        return announcedFraming
    }

    /// Its connection is lost: the next one has the scenario's framing.
    func beginAgain() { (framing, announcedFraming) = (nil, nil) }

    /// To be called for each line, message and piece of data that it delivers.
    func delivered() {
        guard let announced = announcedFraming else { return }
        announced.delivered += 1
        guard announced.hasBegun else { return }
        (framing, announcedFraming) = (announced.framing, nil)
    }

    /// A new connection, or a new listener, under the same name: the earlier one has stopped.
    func successor(number: Int) -> SubjectActor {
        let next = SubjectActor(
            name: name, number: number, target: target, configuration: configuration, isListener: isListener, tls: tls)
        (next.starts, next.ports, next.acceptCounts) = (starts, ports, acceptCounts)
        return next
    }

    // MARK: Findings

    /// It has stopped, and no step expects that.
    func unexpectedStop(_ reason: StopReason, _ detail: String?) -> Finding {
        let word = SubjectText.word(reason)
        return Finding(
            .failed, "\(name) stopped (\(word)), and no later step expects that", details: SubjectText.words(detail),
            hints: [
                reports.isStopping
                    ? "a stop was requested: from then on the reason is `stopped`, whatever else happens"
                    : "where that is right, `\(name) expect stopped \(word)` says so"
            ])
    }

    /// It has refused an operation, and no step expects that.
    func refused(_ code: String, at span: SourceSpan) -> Finding {
        let text = Escaped.text(code.utf8)
        return Finding(
            .failed, at: span, "\(name) answered this op with the error \(text)",
            hints: ["where that is right, `\(name) expect error \(text)` says so"])
    }
}
