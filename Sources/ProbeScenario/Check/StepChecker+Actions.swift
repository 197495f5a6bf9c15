/// The steps of actors.
extension StepChecker {
    func act(_ name: Name, _ action: Action, _ timing: Timing, _ step: Step) {
        checkTiming(of: action, timing, step)
        guard var known = names.actor(name) else {
            checkValues(of: action)
            return
        }
        if names.isDoubtful(name.value) {
            known = known.inDoubt
            names.state.set(name.value, known)
        }
        guard action.isOf(known.kind) else {
            reportForeign(action, of: name, known.kind, step)
            return
        }
        if known.isUnix, case .connection(let step) = action, let what = step.neededOfTCP {
            names.report(.order(.notOnUnix(what, actor: name.value)), at: context.sources.verb(behind: name))
        }
        names.sendsRecords = context.scenario.speaksTLS && (known.security != .plain || known.tls != nil)
        checkValues(of: action, known.kind, step)
        names.sendsRecords = false
        order.follow(name, known, action, step)
    }

    /// An action that another kind of actor has.
    private func reportForeign(_ action: Action, of name: Name, _ kind: ActorKind, _ step: Step) {
        let entry = action.entry
        let isExpectation = action.isExpectation
        let own = isExpectation ? LanguageTable.expectationEntries(of: kind) : LanguageTable.verbEntries(of: kind)
        if !isExpectation { checkValues(of: action) }
        if case .connection(.expect(.bytes(let value))) = action, case .variable(let word) = value.kind,
            names.state.variables[word] == nil
        {
            // A word that is no variable was meant to be an expectation.
            if !names.isDoubtful(word) {
                names.report(.syntax(.unknownExpectation(word, kind: ActorWord(kind: kind))), at: value.span)
            }
        } else if own.contains(where: { $0.spelling == entry.spelling }) {
            names.report(.name(.twoKinds(name.value, kind.rawValue)), at: name.span)
        } else if isExpectation {
            names.report(
                .order(.expectationNotOfKind(entry.word, actor: name.value, kind: ActorWord(kind: kind))),
                at: step.focus)
        } else {
            names.report(
                .order(.verbNotOfKind(entry.word, actor: name.value, kind: ActorWord(kind: kind))),
                at: context.sources.verb(behind: name))
        }
    }

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing.within != nil || timing.after != nil else { return }
        let entry = action.entry
        if timing.within != nil, let reason = entry.timing?.within.refusal {
            names.report(
                .order(.withinNotHere(reason.replacing("{}", with: entry.word))),
                at: context.sources.clause("within", of: step))
        }
        if timing.after != nil, let reason = entry.timing?.after.refusal {
            names.report(.order(.afterNotHere(reason)), at: context.sources.clause("after", of: step))
        }
    }

    /// - Parameters:
    ///   - kind: of the actor; nil where it is not known, or has no such action.
    ///   - step: nil where the kind is.
    private func checkValues(of action: Action, _ kind: ActorKind? = nil, _ step: Step? = nil) {
        if action.isExpectation { names.expectationKind = kind }
        for value in action.values { values.check(value, step) }
        names.expectationKind = nil
    }
}
