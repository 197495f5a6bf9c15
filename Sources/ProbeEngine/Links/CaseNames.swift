import ProbeBase
import ProbeNames
import ProbeScenario
import ProbeSystem

/// The host names of one case: the answers given by the resolvers in the links' networks, and a record of which `name`
/// statements were used by a query.
///
/// This type is confined to the case's reactor.
final class CaseNames {
    private var zone = NameZone()
    private var servers: [NameServer] = []
    /// The number of `name` statements executed so far.
    private var count = 0

    /// From now on, answers queries for a host name with the given answer.
    ///
    /// - Returns: the number of the `name` statement.
    func set(_ name: String, to meaning: NameMeaning) -> Int {
        count += 1
        zone.set(name, to: meaning, id: count)
        return count
    }

    /// Returns the reason why a `name` statement was not used, for example that all queries were for other record
    /// types; `nil` if the statement was used.
    func shortfall(of number: Int) -> String? { zone.shortfall(of: number) }

    /// Starts answering queries in a network.
    ///
    /// - Parameters:
    ///   - notify: called for each query, and for each answer when it is sent.
    ///   - overloaded: called once, with a clause for a note, if a query is dropped or delayed because there are too
    ///     many queries.
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
                }, sent: { notify("receives the answer to \($0.question): \($0.text ?? "nothing")") },
                overloaded: overloaded))
    }

    /// Stops answering queries in all networks.
    func end() {
        for server in servers { server.end() }
        servers = []
    }
}
