/// What stands inside of strings and regexes.
extension ValueChecker {
    /// The words of a `process` line.
    func check(_ command: ProcessCommand) {
        isInProcessLine = true
        for word in command.words {
            check(word.value)
            if word.value.contains(where: \.holdsDollar) { checkBraces(in: word.span) }
        }
        isInProcessLine = false
    }

    func check(_ pieces: [StringPiece]) {
        for piece in pieces {
            switch piece {
            case .text: break
            case .variable(let name):
                if name.value == "dir", isInProcessLine { continue }
                // The file of the run's authority, where the script has no variable of that name.
                if name.value == "ca", names.collected.variables["ca"] == nil {
                    context.scenario.namesAuthority = true
                    continue
                }
                if name.value == "dir" {
                    names.report(
                        .unknownVariable, "${dir} stands in process lines only",
                        hint: "file(\"name\") reads a file of the script's folder", at: name.span)
                } else if names.lookUp(name, isInString: true) == .regex {
                    names.report(.mayBeRegex(name.value), at: name.span)
                }
            case .property(let actor, let property): checkProperty(actor, property)
            }
        }
    }

    /// Looks for `$name` and `$S.port` in the text of a string or of a word of a command, where the name has a value, and in a command for
    /// `${S.port}` in single quotes.
    func checkBraces(in span: SourceSpan) {
        guard let bytes = context.sources.file(of: span)?.bytes else { return }
        var isRaw = false
        var index = span.start
        while index < min(span.end, bytes.count) {
            switch bytes[index] {
            case UInt8(ascii: "'") where isInProcessLine || index == span.start: isRaw.toggle()
            case UInt8(ascii: "\\") where !isRaw: index += 1
            case UInt8(ascii: "$") where isRaw && isInProcessLine && bytes[index...].starts(with: Self.opening):
                let start = index + Self.opening.count
                let length = bytes[start..<min(span.end, bytes.count)].prefix { $0 != UInt8(ascii: "}") }.count
                let name = bytes.text(start..<start + length)
                if isValue(name) {
                    let place = SourceSpan(file: span.file, start: index, end: min(start + length + 1, span.end))
                    names.report(
                        .missingBraces,
                        "`${\(name)}` in single quotes is passed to the program unchanged: nothing is put in there, and a shell doesn't know the name",
                        hint: "end the quotes around it: '…'${\(name)}'…', or use double quotes: \"…${\(name)}…\"",
                        at: place)
                }
                index = start + length
            case UInt8(ascii: "$") where !isRaw && index + 1 < bytes.count && bytes[index + 1].isWordStart:
                let end = min(bytes.endOfWord(from: index + 1), span.end)
                let name = bytes.text(index + 1..<end)
                let place = SourceSpan(file: span.file, start: index, end: end)
                if let known = braced(name, at: end, in: bytes) {
                    names.report(
                        .missingBraces, "`$\(known)` is sent as it stands: a value is put in by `${\(known)}`",
                        hint: "write ${\(known)}; a $ that means itself is \\$", at: place)
                }
                index = end - 1
            default: break
            }
            index += 1
        }
    }

    private static let opening = Array("${".utf8)

    /// Whether a name between braces has a value in the script: that of an actor's property, or a variable's.
    private func isValue(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return names.state.variables[text] != nil || text == "dir" }
        guard let actor = names.state.actors[parts[0]] else { return false }
        if actor.kind == .process, ActorProperty.portNumber(parts[1]) != nil { return true }
        return ActorProperty.choices(of: actor.kind).contains(parts[1])
    }

    /// The value that a name may have meant: a variable, or a property of an actor.
    private func braced(_ name: String, at end: Int, in bytes: [UInt8]) -> String? {
        if let known = names.state.variables[name] { return known.type == .regex ? nil : name }
        if name == "dir", isInProcessLine { return name }
        let property = ".port"
        if names.state.actors[name] != nil, end + property.utf8.count <= bytes.count,
            bytes[end...].starts(with: property.utf8)
        {
            return name + property
        }
        let short = name.prefix { $0 != "-" }
        guard short.utf8.count < name.utf8.count, names.state.variables[String(short)] != nil else { return nil }
        return String(short)
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
                names.report(.variableAsActor(name.value), at: name.span)
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
            } else if property.value != "address" {
                names.report(
                    .unknownProperty(actor: name.value, property: property.value, ActorProperty.choices(of: .process)),
                    at: property.span)
            }
            return
        }
        let properties = ActorProperty.choices(of: known.kind)
        guard properties.contains(property.value) else {
            names.report(
                .unknownProperty(actor: name.value, property: property.value, properties),
                at: property.span)
            return
        }
        if known.kind == .crowd {
            if names.targets[name.value] != nil {
                names.report(
                    .unknownProperty,
                    "the members of `\(name.value)` are clients: each has an address and a port of its own",
                    hint: "a crowd that listens has them: crowd V = 100 servers", at: name.span)
            }
            return
        }
        let isBound =
            known.kind == .server || known.kind == .proxy || known.link != .none || known.life != .idle
            || known.connections > 0
        if !isBound, !names.place.isOrderUnknown, !names.place.isInHeader, !names.isDoubtful(name.value) {
            names.report(.notConnected(name.value, kind: known.kind), at: name.span)
        }
    }
}

extension StringPiece {
    /// Text with a `$` in it.
    var holdsDollar: Bool {
        guard case .text(let text) = self else { return false }
        return text.contains(UInt8(ascii: "$"))
    }
}

extension Diagnostic.Message {
    static func unknownProperty(actor: String, property: String, _ properties: [String]) -> Self {
        Self(.unknownProperty, "`\(actor)` has no `\(property)`", hint: "it has " + properties.joined(separator: ", "))
    }
}
