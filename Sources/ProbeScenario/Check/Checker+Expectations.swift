import ProbeBase

extension Checker {
    // The values of an expectation. `step` is nil where its actor is not known.

    func check(_ expectation: ConnectionExpectation, _ step: Step?) {
        switch expectation {
        case .bytes(let value): requireExpected(value)
        case .line(let pattern, _), .untilLine(let pattern, _), .message(let pattern, _): requirePattern(pattern)
        case .linesInAnyOrder(let lines): for line in lines { requirePattern(line.pattern) }
        case .count(let count, _): requireInteger(count, "the number of bytes", 1, Evaluator.largestValue)
        case .until(let delimiter, _): requireDelimiter(delimiter)
        case .urgent(let value): requireBytes(value)
        case .sendFailed(let reason): checkReason(reason, Self.sendFailures, "a reason why a send fails", step)
        case .anyBytes, .integer, .eof, .reset, .closed, .nothing, .stalled, .sent: break
        }
    }

    func check(_ expectation: SubjectExpectation, _ step: Step?) {
        switch expectation {
        case .line(let pattern, _), .message(let pattern, _): requirePattern(pattern)
        case .leftover(let pattern, _), .data(let pattern, _): requirePattern(pattern, allowsEmpty: false)
        case .bytes(let value):
            requireExpected(value)
            if context.scenario.framing != .none { report(.order(.subjectBytes), at: value.span) }
        case .stopped(let reason): checkReason(reason, Self.stopReasons, "a reason to stop", step)
        case .started, .sent, .accept, .error, .nothing: break
        }
    }

    func check(_ expectation: ProcessExpectation) {
        switch expectation {
        case .output(let literal), .noOutput(let literal, _): check(literal)
        case .exit(.status(let status)): requireInteger(status, "an exit status", 0, 255)
        case .memory(_, let value), .descriptors(_, let value): requireInteger(value, "the limit", 0, Int.max)
        case .exit(.any), .exit(.signal), .listening: break
        }
    }

    private func requireExpected(_ value: Expression) {
        if case .integer = value.kind {
            report(.value(.countAsBytes(text(value))), at: value.span)
        } else if requireBytes(value).length == 0 {
            report(.value(.emptyExpected), at: value.span)
        }
    }

    private static let stopReasons = [
        "eof", "reset", "refused", "timeout", "too-long", "tls-truncated", "tls-failed", "broken-pipe", "protocol",
        "stopped", "other",
    ]
    private static let sendFailures = ["reset", "broken-pipe", "timeout"]

    private func checkReason(_ reason: String?, _ choices: [String], _ what: String, _ step: Step?) {
        guard let reason, !choices.contains(reason), let step else { return }
        report(
            .syntax(.unknownWord(reason, what: what, choices: choices)),
            at: clause(reason, step, length: reason.utf8.count))
    }

    private func clause(_ word: String, _ step: Step, length: Int) -> SourceSpan {
        let place = clause(word, step)
        return SourceSpan(file: place.file, start: place.start, end: min(place.end, place.start + length))
    }

    /// What the action binds once it has passed.
    func bind(_ bindings: Bindings) {
        for entry in bindings.patterns {
            bindGroups(of: entry.pattern)
            guard entry.isOptional, case .regex(let literal) = entry.pattern else { continue }
            // An optional line may not have come.
            for group in literal.groupNames {
                state.set(group, ScriptState.Variable(type: .bytes, isUncertain: true))
            }
        }
        bindInStep(bindings.name, bindings.type)
    }
}
