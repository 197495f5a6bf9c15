/// What stands inside of strings and regexes.
extension ValueChecker {
    /// The words of a `process` line.
    func check(_ command: ProcessCommand) {
        isInProcessLine = true
        for word in command.words { check(word.value) }
        isInProcessLine = false
    }

    func check(_ pieces: [StringPiece]) {
        for piece in pieces {
            switch piece {
            case .text: break
            case .variable(let name):
                if name.value == "dir", isInProcessLine { continue }
                if name.value == "dir" {
                    names.report(.name(.directoryOutsideProcess), at: name.span)
                } else if names.lookUp(name, isInString: true) == .regex {
                    names.report(.value(.regexAsBytes(name.value)), at: name.span)
                }
            case .property(let actor, let property): checkProperty(actor, property)
            }
        }
    }

    func check(_ literal: RegexLiteral) {
        check(literal.pieces)
    }

    /// `${S.port}`
    private func checkProperty(_ name: Name, _ property: Name) {
        names.use(name.value)
        guard let known = names.state.actors[name.value] else {
            if names.place.isInHeader, names.collected.acceptedActors.contains(name.value) {
                names.reportUnbound(name)
            } else if names.state.variables[name.value] != nil, !names.isDoubtful(name.value) {
                names.report(.name(.variableAsActor(name.value)), at: name.span)
            } else if !names.isDoubtful(name.value),
                context.actorKinds[name.value] == nil || !names.place.isOrderUnknown
            {
                _ = names.actor(name)
            }
            return
        }
        if known.kind == .process {
            if let number = ActorProperty.portNumber(property.value) {
                names.usePorts(number, of: name.value)
            } else {
                names.report(
                    .name(
                        .unknownProperty(
                            actor: name.value, property: property.value, ActorProperty.choices(of: .process))),
                    at: property.span)
            }
            return
        }
        let properties = ActorProperty.choices(of: known.kind)
        guard properties.contains(property.value) else {
            names.report(
                .name(.unknownProperty(actor: name.value, property: property.value, properties)),
                at: property.span)
            return
        }
        let isBound = known.kind == .server || known.link != .none || known.life != .idle || known.connections > 0
        if !isBound, !names.place.isOrderUnknown, !names.place.isInHeader, !names.isDoubtful(name.value) {
            names.report(.order(.notConnected(name.value, kind: ActorWord(kind: known.kind))), at: name.span)
        }
    }
}
