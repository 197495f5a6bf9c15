import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// The state of a proxy's `accept` while the step waits.
struct PendingProxyAccept: PendingExpectation {
    let actor: ProxyActor

    init(_ actor: ProxyActor) { self.actor = actor }

    var description: String { "a connection on \(actor.place)" }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ProxiedConnection> {
        let connections = actor.proxy?.connections ?? []
        guard actor.accepted < connections.count else {
            return window.wait(
                orMissed: Finding(
                    .failed, "\(actor.name) (\(actor.place)) received no connection within \(window.allowed)",
                    hints: ["connect to the proxy's port, `${\(actor.name).port}`"]))
        }
        let connection = connections[actor.accepted]
        if let error = connection.failure {
            return .mismatch(
                Finding(
                    .failed,
                    "\(actor.name) could not connect to \(connection.server.peer?.description ?? "its server"): \(error.reason)",
                    hints: ["make the server listen before a client connects to \(actor.name)"]),
                "the server could not be reached")
        }
        guard let opened = connection.server.openedAt else {
            return window.wait(
                orMissed: Finding(
                    .failed,
                    "\(connection.server.peer?.description ?? "its server") did not answer \(actor.name)'s SYN within \(window.allowed)"
                ))
        }
        return .satisfied(connection, at: opened)
    }
}

/// The state of a proxied connection's `expect … from client` or `expect … from server` while the step waits.
struct PendingWatch: PendingExpectation {
    let expectation: ConnectionExpectation<Resolved>
    let actor: ProxiedActor
    let side: ConversationSide
    private let owner: ConnectionActor
    private var progress = InputProgress()

    init(
        _ expectation: ConnectionExpectation<Resolved>, _ actor: ProxiedActor, _ side: ConversationSide,
        _ owner: ConnectionActor
    ) {
        (self.expectation, self.actor, self.side, self.owner) = (expectation, actor, side, owner)
    }

    var description: String { "\(expectation.description) from its \(side == .client ? "client" : "server")" }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ConnectionMatch> {
        let leg = actor.connection[side]
        // Steps don't have to consume forwarded bytes, so the connection's end is recognized even if such bytes precede
        // it.
        let view = ConnectionView(
            name: actor.name, leg: "\(actor.name)'s connection to its \(side == .client ? "client" : "server")",
            receiveBuffer: actor.connection.watched?[side] ?? ReceiveBuffer(), end: leg.readEnd,
            endIsUnconsumed: !actor.consumedEnds.contains(side), framing: owner.framing, peerIsClient: side == .client,
            ignoresRest: expectation.isAboutEnd, reading: .atOnce,
            hasOverflowed: actor.connection.overflowed.contains(side))
        return ConnectionEvaluation(view: view, window: window).evaluate(expectation, &progress)
    }
}
