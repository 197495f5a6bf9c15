import ProbeBase

extension Checker {
    /// One step of an actor.
    func act(_ name: Name, _ action: Action, _ timing: Timing, _ step: Step) {
        checkTiming(of: action, timing, step)
        guard let known = actor(name) else {
            checkValues(of: action)
            return
        }
        if isDoubtful(name.value) {
            state.set(name.value, loosened(known))
        }
        guard action.isOf(known.kind) else {
            reportForeign(action, of: name, known.kind, step)
            return
        }
        checkValues(of: action, known.kind, step)
        follow(name, state.actors[name.value] ?? known, action, step)
    }

    /// An action that another kind of actor has.
    private func reportForeign(_ action: Action, of name: Name, _ kind: ActorKind, _ step: Step) {
        let entry = action.entry
        let isExpectation = action.isExpectation
        let own = isExpectation ? LanguageTable.expectationEntries(of: kind) : LanguageTable.verbEntries(of: kind)
        if !isExpectation { checkValues(of: action) }
        hasTest = hasTest || isExpectation
        if case .connection(.expect(.bytes(let value))) = action, case .variable(let word) = value.kind,
            state.variables[word] == nil
        {
            // A word that is no variable was meant to be an expectation.
            if !context.doubtful.contains(word) {
                report(.syntax(.unknownExpectation(word, kind: ActorWord(kind: kind))), at: value.span)
            }
        } else if own.contains(where: { $0.spelling == entry.spelling }) {
            report(.name(.twoKinds(name.value, kind.rawValue)), at: name.span)
        } else if isExpectation {
            report(
                .order(.expectationNotOfKind(entry.word, actor: name.value, kind: ActorWord(kind: kind))),
                at: step.focus)
        } else {
            report(
                .order(.verbNotOfKind(entry.word, actor: name.value, kind: ActorWord(kind: kind))),
                at: verbSpan(name))
        }
    }

    private func loosened(_ actor: ScriptState.Actor) -> ScriptState.Actor {
        var actor = actor
        actor.link = .unknown
        actor.life = .unknown
        actor.isListening = nil
        actor.halfClosed = nil
        actor.mayHaveMore = true
        return actor
    }

    /// The verb stands behind the actor.
    private func verbSpan(_ name: Name) -> SourceSpan {
        guard let bytes = context.sources.file(of: name.span)?.bytes else { return name.span }
        var start = name.span.end
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") || bytes[start] == UInt8(ascii: "\t") {
            start += 1
        }
        return SourceSpan(file: name.span.file, start: start, end: bytes.endOfWord(from: start))
    }

    // MARK: Timing

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing != Timing() else { return }
        let entry = action.entry
        if timing.within != nil, let reason = entry.timing?.within.refusal {
            report(.order(.withinNotHere(reason.replacing("{}", with: entry.word))), at: clause("within", step))
        }
        if timing.after != nil, let reason = entry.timing?.after.refusal {
            report(.order(.afterNotHere(reason)), at: clause("after", step))
        }
    }

    /// Where `within` or `after` stands in the step: its last one is meant.
    func clause(_ word: String, _ step: Step) -> SourceSpan {
        guard let bytes = context.sources.file(of: step.span)?.bytes else { return step.span }
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

    // MARK: Values

    /// - Parameters:
    ///   - kind: of the actor; nil where it is not known, or has no such action.
    ///   - step: nil where the kind is.
    private func checkValues(of action: Action, _ kind: ActorKind? = nil, _ step: Step? = nil) {
        if action.isExpectation {
            hasTest = true
            expectationKind = .some(kind)
        }
        defer { expectationKind = nil }
        for value in action.values { check(value, step) }
    }
}
