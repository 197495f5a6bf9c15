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
            names.report(.notOnUnix(what, actor: name.value), at: context.sources.verb(behind: name))
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
                names.report(.unknownExpectation(word, kind: kind), at: value.span)
            }
        } else if own.contains(where: { $0.spelling == entry.spelling }) {
            names.report(
                .notAnActor,
                "`\(name.value)` is a \(kind.rawValue) here, and another kind of actor where this step was read",
                hint: "give the two actors two names", at: name.span)
        } else if isExpectation {
            names.report(
                .expectationNotOfKind(entry.word, actor: name.value, kind: kind),
                at: step.focus)
        } else {
            names.report(
                .verbNotOfKind(entry.word, actor: name.value, kind: kind),
                at: context.sources.verb(behind: name))
        }
    }

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing.within != nil || timing.after != nil else { return }
        let entry = action.entry
        if timing.within != nil, let reason = entry.timing?.within.refusal {
            names.report(
                .withinNotHere(reason.replacing("{}", with: entry.word)),
                at: context.sources.clause("within", of: step))
        }
        if timing.after != nil, let reason = entry.timing?.after.refusal {
            names.report(.afterNotHere(reason), at: context.sources.clause("after", of: step))
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

extension Diagnostic.Message {
    static func verbNotOfKind(_ verb: String, actor: String, kind: ActorKind) -> Self {
        Self(
            .unknownVerb, "`\(actor)` is a \(kind.rawValue), and that has no verb `\(verb)`",
            hint: ForeignWords.verb(verb, of: actor, kind) ?? "it can "
                + LanguageTable.verbChoices(of: kind).joined(separator: ", "))
    }

    static func expectationNotOfKind(_ what: String, actor: String, kind: ActorKind) -> Self {
        Self(
            .unknownExpectation, "`\(actor)` is a \(kind.rawValue): `\(what)` can't be expected of it",
            hint: ForeignWords.expectation(what, kind) ?? "of it can be expected "
                + LanguageTable.expectationChoices(of: kind).joined(separator: ", "))
    }

    static func withinNotHere(_ why: String) -> Self {
        Self(
            .timingNotHere, "`within` is for steps that wait, and \(why)",
            hint: "remove it; an expect behind the step can have a deadline")
    }

    static func afterNotHere(_ why: String) -> Self {
        Self(
            .timingNotHere, "`after` is for steps that wait for a peer, and \(why)",
            hint: "remove it, or write wait 50ms before the step")
    }
}
