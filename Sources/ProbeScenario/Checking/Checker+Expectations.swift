extension Checker {
    /// The values of an expectation, and whether such an actor can meet it.
    /// Gives whether it can.
    @discardableResult
    func checkExpectation(_ expectation: Expectation, _ kind: ActorKind?, _ step: Step?) -> Bool {
        hasTest = true
        if let kind, let step, !Self.isMet(expectation, by: kind) {
            // A word that is no variable was meant to be one of these.
            if case .bytes(let value) = expectation, case .variable(let name) = value.kind, state.variables[name] == nil
            {
                if !draft.doubtful.contains(name) {
                    report(.syntax(.unknownExpectation(name, kind: ActorWord(kind: kind))), at: value.span)
                }
                return false
            }
            if case .bytes(let value) = expectation, kind == .subject {
                report(.flow(.subjectBytes), at: value.span)
            } else {
                report(
                    .flow(
                        .expectationNotOfKind(
                            Self.word(of: expectation), actor: actorName(of: step), kind: ActorWord(kind: kind))),
                    at: step.focus)
            }
            return false
        }
        expectationWords = kind.map(Verb.expectations) ?? []
        defer { expectationWords = nil }
        switch expectation {
        case .bytes(let value):
            if case .integer = value.kind {
                report(.value(.countAsBytes(text(value))), at: value.span)
            } else if requireBytes(value).length == 0 {
                report(.value(.emptyExpected), at: value.span)
            }
            if kind == .subject, draft.scenario.framing != .none { report(.flow(.subjectBytes), at: value.span) }
        case .line(let pattern, _), .untilLine(let pattern, _), .message(let pattern, _): requirePattern(pattern)
        case .leftover(let pattern, _), .data(let pattern, _): requirePattern(pattern, allowsEmpty: false)
        case .linesInAnyOrder(let lines): for line in lines { requirePattern(line.pattern) }
        case .count(let count, _): requireInteger(count, "the number of bytes", 1, Evaluator.largestValue)
        case .until(let delimiter, _): requireDelimiter(delimiter)
        case .urgent(let value): requireBytes(value)
        case .output(let literal), .noOutput(let literal, _): check(literal)
        case .exit(.status(let status)): requireInteger(status, "an exit status", 0, 255)
        case .memory(_, let value), .descriptors(_, let value): requireInteger(value, "the limit", 0, Int.max)
        case .stopped(let reason?): checkReason(reason, Self.stopReasons, "a reason to stop", step)
        case .sendFailed(let reason?): checkReason(reason, Self.sendFailures, "a reason why a send fails", step)
        default: break
        }
        return true
    }

    private static let stopReasons = [
        "eof", "reset", "refused", "timeout", "too-long", "tls-truncated", "tls-failed", "broken-pipe", "protocol",
        "stopped", "other",
    ]
    private static let sendFailures = ["reset", "broken-pipe", "timeout"]

    private func checkReason(_ reason: String, _ choices: [String], _ what: String, _ step: Step?) {
        guard !choices.contains(reason), let step else { return }
        report(
            .syntax(.unknownWord(reason, what: what, choices: choices)),
            at: clause(reason, step, length: reason.utf8.count))
    }

    private func clause(_ word: String, _ step: Step, length: Int) -> SourceSpan {
        let place = clause(word, step)
        return SourceSpan(file: place.file, start: place.start, end: min(place.end, place.start + length))
    }

    private func actorName(of step: Step) -> String {
        if case .act(let name, _, _) = step.kind { name.value } else { "" }
    }

    static func isMet(_ expectation: Expectation, by kind: ActorKind) -> Bool {
        switch expectation {
        case .bytes, .line, .message, .nothing, .sent: isConnection(kind) || kind == .subject
        case .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .urgent, .eof, .reset, .closed,
            .stalled,
            .sendFailed:
            isConnection(kind)
        case .noConnection: kind == .server
        case .started, .leftover, .data, .accept, .error, .stopped: kind == .subject
        case .listening, .output, .noOutput, .exit, .memory, .descriptors: kind == .process
        }
    }

    static func word(of expectation: Expectation) -> String {
        switch expectation {
        case .bytes: "bytes"
        case .line: "line"
        case .linesInAnyOrder: "lines in any order"
        case .untilLine: "until line"
        case .count: "… bytes"
        case .until: "until"
        case .anyBytes: "any bytes"
        case .integer(let format, _): format.rawValue
        case .urgent: "urgent"
        case .message: "message"
        case .eof: "eof"
        case .reset: "reset"
        case .closed: "closed"
        case .nothing: "nothing"
        case .stalled: "stalled"
        case .sent: "sent"
        case .sendFailed: "send failed"
        case .noConnection: "no connection"
        case .started: "started"
        case .leftover: "leftover"
        case .data: "data"
        case .accept: "accept"
        case .error: "error"
        case .stopped: "stopped"
        case .listening: "listening"
        case .output: "output"
        case .noOutput: "no output"
        case .exit: "exit"
        case .memory: "memory"
        case .descriptors: "descriptors"
        }
    }

    /// What the expectation binds once it is met.
    func bindNames(of expectation: Expectation) {
        switch expectation {
        case .line(let pattern, let name), .untilLine(let pattern, let name), .message(let pattern, let name),
            .leftover(let pattern, let name), .data(let pattern, let name):
            bindGroups(of: pattern)
            bindInStep(name, .bytes)
        case .linesInAnyOrder(let lines):
            for line in lines {
                bindGroups(of: line.pattern)
                guard line.isOptional, case .regex(let literal) = line.pattern else { continue }
                // An optional line may not have come.
                for group in literal.groupNames {
                    state.set(group, FlowState.Variable(type: .bytes, isUncertain: true))
                }
            }
        case .count(_, let name), .until(_, let name), .anyBytes(let name): bindInStep(name, .bytes)
        case .integer(_, let name): bindInStep(name, .integer)
        case .output(let literal): bindGroups(of: literal)
        default: break
        }
    }
}
