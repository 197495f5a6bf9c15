import ProbeBase

/// The parts of a step that the checker needs, regardless of the kind of step.
extension Step.Kind {
    package var blocks: [Block] {
        switch self {
        case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
            .finally(let block), .whenever(_, _, let block):
            [block]
        case .either(let blocks): blocks
        case .wait, .note, .assign, .check, .invoke, .act, .wire, .link, .name: []
        }
    }

    /// The variables that the step itself binds.
    var boundNames: [String] {
        switch self {
        case .assign(let name, _): [name.value]
        case .loop(let names, _, _): names.map(\.value)
        case .check(_, _, .regex(let literal)): literal.groupNames
        case .whenever(_, let literal, _): literal.groupNames
        case .act(_, let action, _): action.bindings.names
        case .check, .wait, .note, .invoke, .sequence, .together, .either, .retry, .finally, .wire, .link, .name: []
        }
    }
}

extension Step {
    /// The variables and the connections that the step and its nested steps bind.
    var allBoundNames: [String] {
        var names = kind.boundNames
        if case .act(_, .server(.accept(let name?, _, _)), _) = kind { names.append(name.value) }
        for block in kind.blocks {
            for inner in block.steps { names += inner.allBoundNames }
        }
        return names
    }
}

/// The places of a step's parts in the script, for the carets in messages.
extension SourceMap {
    /// Returns the span from the last occurrence of a clause word, such as `within` or `after`, to the end of the step.
    func clause(_ word: String, of step: Step) -> SourceSpan {
        guard let bytes = file(of: step.span)?.bytes else { return step.span }
        let letters = Array(word.utf8)
        var start = min(step.span.end, bytes.count) - letters.count
        while start >= step.span.start {
            if bytes[start..<(start + letters.count)].elementsEqual(letters) {
                return SourceSpan(file: step.span.file, start: start, end: step.span.end)
            }
            start -= 1
        }
        return step.span
    }

    /// Returns the place of the verb after an actor.
    func verb(after name: Name) -> SourceSpan {
        guard let bytes = file(of: name.span)?.bytes else { return name.span }
        var start = name.span.end
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") {
            start += 1
        }
        return SourceSpan(file: name.span.file, start: start, end: bytes.endOfWord(from: start))
    }

    /// Returns the text of an expression, shortened for use in a message.
    func shown(_ expression: Expression) -> String {
        Escaped.text(text(of: expression.span).utf8.prefix(40))
    }
}
