import ProbeBase

/// Checks host names: what they resolve to, and which subjects connect to them.
struct NameChecker {
    let names: NameScope
    let links: LinkChecker

    private var scenario: Scenario { names.context.scenario }

    // MARK: The header

    /// Checks the names in the header. Called once all actors are known, including the side of each actor on a link.
    func checkHeader() {
        var seen: [String: SourceSpan] = [:]
        for statement in scenario.names {
            if let earlier = seen.updateValue(statement.name.span, forKey: NameStatement.key(of: statement.name.value))
            {
                names.report(
                    .hostName, "the name \(Escaped.quoted(statement.name.value)) is defined twice",
                    hint: "list all addresses of the name in one statement; a step can change them later",
                    at: statement.name.span,
                    notes: [Diagnostic.Note("first defined here", span: earlier)])
            }
            check(statement)
        }
        let all = Dictionary(grouping: scenario.names + names.collected.hostNames) {
            NameStatement.key(of: $0.name.value)
        }
        for actor in scenario.actors {
            guard case .subject(.address(let address)?, _) = actor.kind, let host = address.hostName else { continue }
            checkHostName(host, to: actor, all)
        }
    }

    /// Checks a subject that connects to a host name.
    ///
    /// - Parameter all: the `name` statements of the scenario, grouped by their keys.
    private func checkHostName(_ host: Spanned<String>, to actor: ActorDeclaration, _ all: [String: [NameStatement]]) {
        let name = actor.name.value
        if links.side(of: name) == nil, !names.isDoubtful(name) {
            return names.report(
                .hostName,
                "`\(name)` connects to the host name \(Escaped.quoted(host.value)), which can be resolved only on a link",
                hint: "add `link S <-> \(name)`", at: host.span)
        }
        let known = all[NameStatement.key(of: host.value)] ?? []
        if known.isEmpty {
            let choices = names.listed(Set(all.values.flatMap { $0 }.map(\.name.value)))
            if !names.isDoubtful("name") { names.report(.unknownHost(host.value, choices), at: host.span) }
            return
        }
        for case .addresses(let addresses, _) in known.map(\.answer) {
            for case .actor(let other) in addresses where !areOnOppositeSides(name, other.value) {
                names.report(.notAcross(name, target: other.value), at: other.span)
            }
        }
    }

    /// Returns whether two actors are on opposite sides of one link. Also returns true if an actor is not on any link,
    /// because another check reports this error.
    private func areOnOppositeSides(_ name: String, _ other: String) -> Bool {
        guard let own = links.side(of: name), let its = links.side(of: other) else { return true }
        return own.link == its.link && own.isLeft != its.isLeft
    }

    // MARK: What a name resolves to

    /// Checks a `name` statement in the header or among the steps.
    func check(_ statement: NameStatement) {
        if scenario.links.isEmpty {
            if !names.isDoubtful("link") {
                names.report(
                    .hostAddress, "host names are resolved in the networks of a link, but the script declares no link",
                    hint:
                        "add `link S <-> T`, with the actor that resolves the name on one side and the actor whose "
                        + "address the name has on the other side",
                    at: statement.name.span)
            }
            return
        }
        guard case .addresses(let addresses, _) = statement.answer else { return }
        var first: Name?
        var seen: Set<String> = []
        for address in addresses {
            switch address {
            case .nobody(let address, let span):
                if !seen.insert("\(address)").inserted { names.report(.addressTwice("\(address)"), at: span) }
            case .actor(let name):
                if !seen.insert(name.value).inserted {
                    names.report(.addressTwice("`\(name.value)`"), at: name.span)
                }
                if checkActor(name, with: first) { first = first ?? name }
            }
        }
    }

    /// Checks an actor to which a host name resolves.
    ///
    /// - Parameter first: the first actor of the statement.
    /// - Returns: whether a name can resolve to this actor.
    private func checkActor(_ name: Name, with first: Name?) -> Bool {
        guard let known = names.actor(name) else { return false }
        switch known.kind {
        case .server, .process: break
        case .subject where known.parent == nil && names.targets[name.value] == nil: break
        case .client, .subject, .connection, .proxy, .crowd, .link:
            names.report(
                .wrongKindOfActor(
                    name.value, is: known.kind.rawValue, wanted: "a server, a process or a subject that listens"),
                at: name.span)
            return false
        }
        guard let side = links.side(of: name.value) else {
            names.report(
                .hostAddress, "`\(name.value)` is not on a link, so a name can't resolve to it",
                hint: "add a link such as `link \(name.value) <-> T`; the actor that resolves the name must be on the "
                    + "other side of the link from `\(name.value)`",
                at: name.span)
            return false
        }
        if let first, links.side(of: first.value) != side {
            names.report(
                .hostAddress,
                "`\(first.value)` and `\(name.value)` are not on the same side of one link, so no actor can reach both",
                hint: "add `link \(first.value), \(name.value) <-> T`", at: name.span)
            return false
        }
        return true
    }
}

extension Diagnostic.Message {
    /// The message for an unknown host name; the hint suggests one of `names`.
    static func unknownHost(_ name: String, _ names: [String]) -> Self {
        Self(
            .hostName, "unknown host name \(Escaped.quoted(name))",
            hint: Suggestion.nearest(to: name, among: names).map { "did you mean \"\($0)\"?" }
                ?? "add `name \"\(Escaped.text(name.utf8))\" = S`, where `S` is a server on the other side of the link")
    }

    static func addressTwice(_ text: String) -> Self {
        Self(.hostAddress, "\(Escaped.text(text.utf8)) is listed twice", hint: "remove one of the two entries")
    }
}
