import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// An `accept` of a proxy that is being waited for.
struct PendingProxyAccept: PendingExpectation {
    let actor: ProxyActor

    init(_ actor: ProxyActor) { self.actor = actor }

    var description: String { "a connection on \(actor.place)" }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ProxiedConnection> {
        let connections = actor.proxy?.connections ?? []
        guard actor.accepted < connections.count else {
            return window.wait(
                orMissed: Finding(
                    .failed, "no connection came to \(actor.name) (\(actor.place)) within \(window.allowed)",
                    hints: ["who is to connect is told the port as `${\(actor.name).port}`"]))
        }
        let connection = connections[actor.accepted]
        if let error = connection.failure {
            return .mismatch(
                Finding(
                    .failed,
                    "\(actor.name) could not connect onwards to \(connection.server.peer?.description ?? "its server"): \(error.reason)",
                    hints: ["its server has to listen before somebody connects to \(actor.name)"]),
                "the server could not be reached")
        }
        guard let opened = connection.server.openedAt else {
            return window.wait(
                orMissed: Finding(
                    .failed,
                    "\(connection.server.peer?.description ?? "the server") did not answer \(actor.name)'s SYN within \(window.allowed)"
                ))
        }
        return .satisfied(connection, at: opened)
    }
}

/// An `expect … from client` or `expect … from server` that is being waited for.
struct PendingWatch: PendingExpectation {
    let wanted: ConnectionExpectation<Resolved>
    let actor: ProxiedActor
    let side: ConversationSide
    private let owner: ConnectionActor
    private var progress = InputProgress()

    init(
        _ wanted: ConnectionExpectation<Resolved>, _ actor: ProxiedActor, _ side: ConversationSide,
        _ owner: ConnectionActor
    ) {
        (self.wanted, self.actor, self.side, self.owner) = (wanted, actor, side, owner)
    }

    var description: String { "\(wanted.description) from its \(side == .client ? "client" : "server")" }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ConnectionMatch> {
        let leg = actor.connection[side]
        // Bytes that pass are not consumed, so an end is looked for after them.
        let view = ConnectionView(
            name: "\(actor.name), from its \(side == .client ? "client" : "server")",
            receiveBuffer: actor.connection.watched?[side] ?? ReceiveBuffer(), end: leg.readEnd,
            endIsNews: !actor.takenEnds.contains(side), framing: owner.framing, isOfClient: side == .client,
            ignoresRest: wanted.isAboutEnd, reading: .atOnce, hasOverflowed: actor.connection.overflowed.contains(side))
        return ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress)
    }
}
