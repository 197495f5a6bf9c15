import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeNames
import ProbeScenario
import ProbeSystem

/// Sets up the resolvers that answer a case's host name queries.
struct NameExecutor {
    let context: CaseContext

    /// Defines the host names from the header and starts the resolvers, which answer queries by the time this method
    /// returns.
    func begin() throws(Finding) {
        guard context.scenario.usesNames else { return }
        for statement in context.scenario.names { try set(statement) }
        for (index, declaration) in context.scenario.links.enumerated() {
            for side in [LinkSide.left, .right] {
                let place = CaseLinks.Place(index: index, side: side)
                let who = context.programs(at: place)
                do throws(SystemError) {
                    try context.links.names.serve(
                        in: context.links.end(at: place).namespace, on: context.reactor,
                        notify: { [weak context] text in context?.record(.event(actor: who, text)) },
                        overloaded: { [weak context] what in
                            context?.raise(
                                Finding(
                                    .error, at: declaration.span,
                                    "a query from \(who) \(what)",
                                    hints: [
                                        "shorten the delays in the `name` statements, or make the program send "
                                            + "fewer queries"
                                    ]))
                        })
                } catch {
                    throw Finding(
                        .error, at: declaration.span,
                        "the link's resolver can't listen at \(NameLookup.resolver): \(error)",
                        details: error.resourcesLeft, hints: error.advice)
                }
            }
        }
    }

    /// From now on, makes the resolvers answer queries for a host name as a `name` statement specifies.
    func set(_ statement: NameStatement) throws(Finding) {
        let text = context.text(of: statement.span)
        let names = context.links.names
        let number = names.set(statement.name.value, to: try meaning(of: statement))
        context.conditions.add(at: statement.span, isOptional: statement.isOptional) {
            names.shortfall(of: number).map { reason in
                .never(
                    text, reason,
                    hints: [
                        "pass the name to a subject with `subject T -> \"dual.test\":8080`; a program may also use "
                            + "an answer that it has cached; the timeline shows all queries",
                        "add `if needed` to the end of the statement if the name may remain unused",
                    ])
            }
        }
    }

    private func meaning(of statement: NameStatement) throws(Finding) -> NameMeaning {
        switch statement.answer {
        case .nxdomain: return .noSuchName
        case .fails: return .failure
        case .timesOut: return .silence
        case .addresses(let written, let times):
            var addresses: [IPAddress] = []
            for address in written {
                switch address {
                case .nobody(let address, _): addresses.append(address)
                case .actor(let name): addresses.append(try self.address(of: name))
                }
            }
            return .addresses(
                addresses,
                NameDelays(
                    ipv4: times.ipv4Delay ?? .zero, ipv6: times.ipv6Delay ?? .zero,
                    timeToLive: UInt32(clamping: times.timeToLive?.components.seconds ?? 0)))
        }
    }

    /// Returns the address at which an actor from the header listens.
    private func address(of name: Name) throws(Finding) -> IPAddress {
        let declared = context.scenario.actors.first { $0.name.value == name.value }
        let family: LinkFamily? =
            switch declared?.kind {
            case .server(let address, _, _): address?.link
            case .subject(_, let options): options.local?.link
            case .client, .process, .proxy, .crowd, nil: nil
            }
        guard let end = context.links.end(of: name.value),
            let endpoint = (family == .ipv6 ? end.ipv6 : end.ipv4).endpoint
        else { throw Finding(.error, at: name.span, "\(name.value) is not on a link") }
        return endpoint.address
    }
}

extension CaseContext {
    /// Returns the names of the programs in a link's network, for messages. Actors other than programs are left out,
    /// because the harness connects to addresses and never looks up a name.
    func programs(at place: CaseLinks.Place) -> String {
        let all = links.names(at: place)
        let programs = scenario.actors.compactMap { actor -> String? in
            switch actor.kind {
            case .subject, .process: all.contains(actor.name.value) ? actor.name.value : nil
            case .server, .client, .proxy, .crowd: nil
            }
        }
        return (programs.isEmpty ? all : programs).joined(separator: " or ")
    }
}
