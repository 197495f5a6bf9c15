import ProbeBase

/// Checks links: which actors are on each link, and whether the packets that a step selects can exist.
struct LinkChecker {
    let names: NameScope
    let values: ValueChecker

    private var context: ParseContext { names.context }

    // MARK: The header

    /// Checks the links in the header. Called once all actors are known.
    func checkHeader() {
        var seen: Set<String> = []
        for link in context.scenario.links {
            for name in link.names {
                guard let known = names.state.actors[name.value] else {
                    if !names.isDoubtful(name.value) {
                        names.report(.unknownActor(name.value, names.actorNames), at: name.span)
                    }
                    continue
                }
                switch known.kind {
                case .server, .client, .subject, .process, .crowd: break
                case .proxy, .connection, .link:
                    names.report(
                        .linkEnds, "`\(name.value)` is a \(known.kind.rawValue), which can't be on a link",
                        hint: "name only servers, clients, subjects, processes and crowds in a link", at: name.span)
                }
                if !seen.insert(name.value).inserted {
                    names.report(
                        .linkEnds, "`\(name.value)` is already on a link",
                        hint: "remove one of the two mentions: an actor can be in only one network", at: name.span)
                }
            }
        }
        for actor in context.scenario.actors { place(actor) }
        for actor in context.scenario.actors { checkReach(of: actor) }
    }

    /// Determines the side of an actor that listens on a link. The actor is on the side of the other actors that accept
    /// connections.
    private func place(_ actor: ActorDeclaration) {
        let address: AddressExpression?
        switch actor.kind {
        case .server(let declared, _, _): address = declared
        case .subject(nil, let options): address = options.local
        case .client, .subject, .process, .proxy, .crowd: return
        }
        let isOnLink = side(of: actor.name.value) != nil
        if isOnLink, let address, address.link == nil {
            names.report(
                .linkEnds, "`\(actor.name.value)` is on a link, where it must use the address of its side",
                hint: "write `server \(actor.name.value) on link:8080`, or `on [link6]:8080` for IPv6", at: address.span
            )
        }
        guard let address, address.link != nil, !isOnLink else { return }
        if context.scenario.links.isEmpty {
            return names.report(
                .linkEnds, "`\(actor.name.value)` listens on a link, but the script declares none",
                hint: "add `link \(actor.name.value) <-> T`, or remove `on link`", at: address.span)
        }
        let link = context.scenario.links[0]
        let (left, right) = (hasPassive(link.left), hasPassive(link.right))
        guard context.scenario.links.count == 1, left != right else {
            return names.report(
                .linkEnds, "it is unclear which side of which link `\(actor.name.value)` is on",
                hint: "name the actor in the link: `link \(actor.name.value), S <-> T`", at: address.span)
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
            names.report(.notAcross(name, target: other.value), at: other.span)
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
                names.report(.notAcross(name, target: other.value), at: other.span)
            }
        case .address(let address)? where own != nil && address.hostName == nil:
            names.report(.addressBeside(name), at: address.span)
        case nil where own != nil && { if case .client = actor.kind { true } else { false } }():
            names.report(.addressBeside(name), at: actor.name.span)
        default: break
        }
    }

    // MARK: Sides

    struct Side: Equatable {
        var link: Int
        var isLeft: Bool
    }

    /// Returns the side of a declared actor, or the side of the actor that has accepted the connection with this name.
    func side(of name: String) -> Side? {
        if let side = names.collected.linkSides[name] { return side }
        // A server that listens on a link is assigned to a side only after the names have been collected.
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
            if length == 0 { names.report(.emptySend, at: value.span) }
            if length > LinkCommand<Parsed>.injectable.upperBound {
                names.report(
                    .linkFault, "\(length) bytes do not fit into a segment of the link",
                    hint: "inject at most \(LinkCommand<Parsed>.injectable.upperBound) bytes in each of several steps",
                    at: value.span)
            }
        }
        guard names.actor(link.from) != nil, names.actor(link.to) != nil else { return }
        guard let from = side(of: link.from.value), let to = side(of: link.to.value), from.link == to.link,
            from.isLeft != to.isLeft
        else {
            return names.report(
                .linkEnds, "`\(link.from.value)` and `\(link.to.value)` are not on opposite sides of the same link",
                hint: "declare the link in the header: `link \(link.from.value) <-> \(link.to.value)`",
                at: link.from.span.joined(with: link.to.span))
        }
        if case .loss = link.action { names.linksWithLoss.insert(from.link) }
        if case .burst = link.action, !names.linksWithLoss.contains(from.link), !names.place.isOrderUnknown {
            names.report(
                .linkFault, "`burst` has no effect, because the link loses no packets at this step",
                hint: "add `loss 5%` before this step, or write `loss 5% burst 3`", at: step.focus)
        }
        guard let selection = link.action.selection else { return }
        if link.isBothWays, !selection.ordinals.isAll {
            names.report(
                .linkFault, "packets in the two directions are not counted together",
                hint: "write `link S -> T` for the packets in one direction, or `all` for every packet",
                at: selection.ordinals.span)
        }
        if case .range(let first, let last) = selection.ordinals.kind,
            case .integer(let low) = names.constants.fold(first),
            case .integer(let high) = names.constants.fold(last), high < low
        {
            names.report(
                .linkFault, "the last packet is before the first", hint: "write the smaller number first: `data 2..5`",
                at: selection.ordinals.span)
        }
        if !link.isBothWays, isNeverSent(selection.kind, by: from) {
            names.report(
                .linkFault,
                "`\(link.from.value)` never sends a `\(selection.kind.rawValue)` packet: "
                    + (selection.kind == .syn ? "the other end opens the connections" : "it opens the connections"),
                hint: selection.kind == .syn
                    ? "select a `synack` packet, or a `syn` packet in the other direction"
                    : "select a `synack` packet in the other direction",
                at: selection.ordinals.span)
        }
    }

    /// Returns whether a side can never send packets of the given kind. A SYN is sent only by the side that opens
    /// connections, and a SYN-ACK only by the side that accepts them.
    private func isNeverSent(_ kind: PacketKind, by side: Side) -> Bool {
        guard [.syn, .synack].contains(kind) else { return false }
        let link = context.scenario.links[side.link]
        // A program may both open and accept connections.
        if link.names.contains(where: { names.state.actors[$0.value]?.kind == .process }) { return false }
        func opens(_ list: [Name]) -> Bool { list.contains { names.targets[$0.value] != nil } }
        let (own, other) = (side.isLeft ? link.left : link.right, side.isLeft ? link.right : link.left)
        guard opens(own) != opens(other) else { return false }
        return kind == .syn ? !opens(own) : opens(own)
    }

    /// Checks the word `arrived` in a wire statement.
    func checkArrived(_ statement: WireStatement<Parsed>) {
        for name in statement.names where side(of: name.value) == nil && !names.isDoubtful(name.value) {
            return names.report(
                .linkEnds, "`arrived` applies to packets on a link, but `\(name.value)` is not on one",
                hint: "remove `arrived`: without a link, every packet that was sent has arrived", at: name.span)
        }
    }
}

extension Diagnostic.Message {
    /// The message for a connection from an actor on a link to an actor that is not on the link, or to an actor on the
    /// same side of the link.
    static func notAcross(_ name: String, target: String) -> Self {
        Self(
            .linkEnds, "`\(name)` can't reach `\(target)`: they are not on opposite sides of the same link",
            hint: "add `link \(target) <-> \(name)`")
    }

    static func addressBeside(_ name: String) -> Self {
        Self(
            .linkEnds, "`\(name)` is on a link, from which it can reach only the other side",
            hint: "connect `\(name)` to an actor on the other side")
    }
}
