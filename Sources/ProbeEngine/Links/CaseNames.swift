import ProbeBase
import ProbeNames
import ProbeScenario
import ProbeSystem

/// The host names of one case: the answers of the resolvers in its links' networks, and which statements were used by a
/// query.
///
/// Confined to the case's reactor.
final class CaseNames {
    private var zone = NameZone()
    private var servers: [NameServer] = []
    /// The number of statements so far.
    private var count = 0

    /// Makes a name resolve to the statement's answer from now on.
    ///
    /// - Returns: the statement's number.
    func set(_ name: String, to meaning: NameMeaning) -> Int {
        count += 1
        zone.set(name, to: meaning, id: count)
        return count
    }

    /// Returns why a statement was not used, such as queries for other record types only; `nil` if it was used.
    func shortfall(of number: Int) -> String? { zone.shortfall(of: number) }

    /// Answers queries in a network from now on.
    ///
    /// - Parameters:
    ///   - notify: called for each query, and for each answer when it is sent.
    ///   - overloaded: called once with a clause when a query is dropped or delayed because there are too many.
    func serve(
        in network: NetworkNamespace, on reactor: Reactor, notify: @escaping (String) -> Void,
        overloaded: @escaping (_ what: String) -> Void
    ) throws(SystemError) {
        servers.append(
            try NameServer(
                in: network, reactor: reactor,
                receive: { [weak self] message, carrier in
                    guard let self else { return nil }
                    let reply = zone.receive(message.span, by: carrier, at: .now)
                    if let reply {
                        let end = reply.text == nil ? ", which is never answered" : carrier == .tcp ? " over TCP" : ""
                        notify("asks for \(reply.question)\(end)")
                    }
                    return reply
                }, sent: { notify("receives the answer for \($0.question): \($0.text ?? "nothing")") },
                overloaded: overloaded))
    }

    /// Stops answering.
    func end() {
        for server in servers { server.end() }
        servers = []
    }
}
