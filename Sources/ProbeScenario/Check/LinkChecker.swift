import ProbeBase

/// Checks links: who is on one, and whether what a step says of packets can be.
struct LinkChecker {
    let names: NameScope
    let values: ValueChecker

    private var context: ParseContext { names.context }

    // MARK: The header

    /// To be called when all actors are known.
    func checkHeader() {
        var seen: Set<String> = []
        for link in context.scenario.links {
            for name in link.names {
                guard let known = names.state.actors[name.value] else {
                    if !names.isDoubtful(name.value) {
                        names.report(.name(.unknownActor(name.value, names.actorNames)), at: name.span)
                    }
                    continue
                }
                switch known.kind {
                case .server, .client, .subject, .process, .crowd: break
                case .proxy, .connection, .link:
                    report(.notOnLinks(name.value, kind: known.kind), at: name.span)
                }
                if !seen.insert(name.value).inserted { report(.twice(name.value), at: name.span) }
            }
        }
        for actor in context.scenario.actors { place(actor) }
        for actor in context.scenario.actors { checkReach(of: actor) }
    }

    /// A server that listens on a link is on the side of the others that are connected to.
    private func place(_ actor: ActorDeclaration) {
        let address: AddressExpression?
        switch actor.kind {
        case .server(let declared, _, _): address = declared
        case .subject(nil, let options): address = options.local
        case .client, .subject, .process, .proxy, .crowd: return
        }
        let isOnLink = side(of: actor.name.value) != nil
        if isOnLink, let address, address.link == nil {
            report(.otherAddress(server: actor.name.value), at: address.span)
        }
        guard let address, address.link != nil, !isOnLink else { return }
        if context.scenario.links.isEmpty { return report(.noLink(server: actor.name.value), at: address.span) }
        let link = context.scenario.links[0]
        let (left, right) = (hasPassive(link.left), hasPassive(link.right))
        guard context.scenario.links.count == 1, left != right else {
            return report(.sideUnknown(server: actor.name.value), at: address.span)
        }
        if left {
            context.scenario.links[0].left.append(actor.name)
        } else {
            context.scenario.links[0].right.append(actor.name)
        }
    }

    private func hasPassive(_ side: [Name]) -> Bool {
        side.contains { name in names.targets[name.value] == nil && names.state.actors[name.value]?.kind != .client }
    }

    private func checkReach(of actor: ActorDeclaration) {
        let name = actor.name.value
        switch actor.kind {
        case .client(let target, _), .subject(let target, _): checkReach(of: actor, to: target)
        case .crowd(let crowd):
            if case .clients(let target) = crowd.role { checkReach(of: actor, to: target) }
        case .proxy(.actor(let other)) where side(of: other.value) != nil:
            report(.notAcross(name, target: other.value), at: other.span)
        case .server, .process, .proxy: break
        }
    }

    private func checkReach(of actor: ActorDeclaration, to target: Target?) {
        let name = actor.name.value
        let own = side(of: name)
        switch target {
        case .actor(let other)?:
            let its = side(of: other.value)
            if own == nil && its == nil { return }
            if own?.link != its?.link || own?.isLeft == its?.isLeft {
                report(.notAcross(name, target: other.value), at: other.span)
            }
        case .address(let address)? where own != nil && address.hostName == nil:
            report(.addressBeside(name), at: address.span)
        case nil where own != nil && { if case .client = actor.kind { true } else { false } }():
            report(.addressBeside(name), at: actor.name.span)
        default: break
        }
    }

    // MARK: Sides

    struct Side: Equatable {
        var link: Int
        var isLeft: Bool
    }

    /// Of an actor of the header, or of a connection that one has accepted.
    func side(of name: String) -> Side? {
        if let side = names.collected.linkSides[name] { return side }
        // A server that listens on a link was put on its side after the names had been collected.
        for (index, link) in context.scenario.links.enumerated() {
            if link.left.contains(where: { $0.value == name }) { return Side(link: index, isLeft: true) }
            if link.right.contains(where: { $0.value == name }) { return Side(link: index, isLeft: false) }
        }
        guard let parent = names.state.actors[name]?.parent, parent != name else { return nil }
        return side(of: parent)
    }

    // MARK: Steps

    func check(_ link: LinkStep, _ step: Step) {
        for value in link.action.values { values.check(value, step) }
        if case .inject(let value) = link.action, let length = values.requireBytes(value).length {
            if length == 0 { names.report(.value(.emptySend), at: value.span) }
            if length > LinkAction.injectable.upperBound { report(.injectionTooLong(length), at: value.span) }
        }
        guard names.actor(link.from) != nil, names.actor(link.to) != nil else { return }
        guard let from = side(of: link.from.value), let to = side(of: link.to.value), from.link == to.link,
            from.isLeft != to.isLeft
        else {
            return report(
                .notTheEnds(link.from.value, link.to.value), at: link.from.span.joined(with: link.to.span))
        }
        if case .loss = link.action { names.linksWithLoss.insert(from.link) }
        if case .burst = link.action, !names.linksWithLoss.contains(from.link), !names.place.isOrderUnknown {
            report(.burstWithoutLoss, at: step.focus)
        }
        guard let selection = link.action.selection else { return }
        if link.isBothWays, !selection.isAll { report(.ordinalOfBoth, at: selection.span) }
        if case .range(let first, let last) = selection.ordinals, case .integer(let low) = names.constants.fold(first),
            case .integer(let high) = names.constants.fold(last), high < low
        {
            report(.lastBeforeFirst, at: selection.span)
        }
        if !link.isBothWays, isNeverSent(selection.kind, by: from) {
            report(.neverSent(selection.kind, by: link.from.value), at: selection.span)
        }
    }

    /// Whether a direction can have no packet of the kind: only one side opens connections.
    private func isNeverSent(_ kind: PacketKind, by side: Side) -> Bool {
        guard [.syn, .synack].contains(kind) else { return false }
        let link = context.scenario.links[side.link]
        // A program may do both.
        if link.names.contains(where: { names.state.actors[$0.value]?.kind == .process }) { return false }
        func opens(_ list: [Name]) -> Bool { list.contains { names.targets[$0.value] != nil } }
        let (own, other) = (side.isLeft ? link.left : link.right, side.isLeft ? link.right : link.left)
        guard opens(own) != opens(other) else { return false }
        return kind == .syn ? !opens(own) : opens(own)
    }

    /// `arrived` behind a statement about the wire.
    func checkArrived(_ statement: WireStatement) {
        for name in statement.names where side(of: name.value) == nil && !names.isDoubtful(name.value) {
            return report(.arrivedElsewhere(name.value), at: name.span)
        }
    }

    private func report(_ kind: LinkDiagnosticKind, at span: SourceSpan) { names.report(.link(kind), at: span) }
}
