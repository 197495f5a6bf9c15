import ProbeBase
import ProbeNetwork
import ProbeScenario
import ProbeSystem

/// The names of hosts of one case: what the resolvers in the networks of its links answer, and which statements were asked for.
///
/// Confined to the case's reactor.
final class CaseNames {
    private var zone = NameZone()
    private var servers: [NameServer] = []
    /// How many statements there have been.
    private var count = 0

    /// From here on a name stands for what the statement says.
    ///
    /// - Returns: the statement's number.
    func set(_ name: String, to meaning: NameMeaning) -> Int {
        count += 1
        zone.set(name, to: meaning, id: count)
        return count
    }

    /// What was asked instead of what a statement answers; `nil` if it was asked for.
    func shortfall(of number: Int) -> String? { zone.shortfall(of: number) }

    /// Answers in a network from here on.
    ///
    /// - Parameters:
    ///   - tell: called for each question, and for each answer as it leaves.
    ///   - overloaded: called once with a clause, when a question is dropped or has to wait because there are too many.
    func serve(
        in network: NetworkNamespace, on reactor: Reactor, tell: @escaping (String) -> Void,
        overloaded: @escaping (_ what: String) -> Void
    ) throws(SystemError) {
        servers.append(
            try NameServer(
                in: network, reactor: reactor,
                receive: { [weak self] message, carrier in
                    guard let self else { return nil }
                    let reply = zone.receive(message.span, by: carrier, at: .now)
                    if let reply {
                        let end = reply.text == nil ? ", and is not answered" : carrier == .tcp ? " by TCP" : ""
                        tell("asks for \(reply.question)\(end)")
                    }
                    return reply
                }, sent: { tell("is told, for \($0.question): \($0.text ?? "nothing")") }, overloaded: overloaded))
    }

    /// Answers no more.
    func end() {
        for server in servers { server.end() }
        servers = []
    }
}
