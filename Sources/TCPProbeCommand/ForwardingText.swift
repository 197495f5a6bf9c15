import ProbeBase
import ProbeNetwork
import ProbeScenario

/// What `--to-client` and `--to-server` say, in the words of the step `forward`.
enum ForwardingText {
    /// - Parameter option: for messages.
    /// - Returns: nil where nothing is said.
    static func style(_ text: String?, of option: String) throws -> ForwardStyle? {
        guard let text else { return nil }
        // It is read as the step that it is the end of, so that there is one grammar and one set of messages.
        let script = "scenario \"\(option)\"\nserver S\nproxy X -> S\nX forward to client \(text)\n"
        let result = ScenarioCompiler.compile(path: option, bytes: Array(script.utf8)) {
            (_: ScriptFile) throws(LoadError) in throw .notFound
        }
        let problem = result.diagnostics.first { $0.severity == .error }
        guard problem == nil, let plan = result.plan, plan.scenario.steps.count == 1,
            case .act(_, .proxy(.forward(let statement, nil, _)), _) = plan.scenario.steps[0].kind
        else {
            throw refusal(text, of: option, problem?.text, hint: problem?.hint)
        }
        do throws(EvaluationError) {
            return try ForwardStyle(
                statement, Evaluator(scope: BoundScope(), sources: plan.sources, framing: plan.scenario.framing))
        } catch {
            throw refusal(text, of: option, error.reason.text, hint: error.reason.hint)
        }
    }

    private static func refusal(
        _ text: String, of option: String, _ reason: String?, hint: String?
    ) -> any Error {
        Failure.wrongUse(
            "\(option) \(Escaped.quoted(text)): \(reason ?? "it is no forwarding")\n  hint: "
                + (hint ?? "for example: \(option) \"in pieces of 1B every 5ms\""))
    }
}

extension ForwardStyle {
    fileprivate init(_ statement: ForwardStatement, _ evaluator: Evaluator) throws(EvaluationError) {
        self.init(delay: statement.delay ?? .zero, isJoined: statement.isJoined)
        switch statement.cut {
        case .inPieces(let size)?: cut = .inPieces(of: max(1, try evaluator.integer(of: size)))
        case .random(let seed)?: cut = .random(seed: UInt64(bitPattern: Int64(try evaluator.integer(of: seed))))
        case .at(let expressions)?:
            var offsets: [Int] = []
            for expression in expressions { offsets.append(try evaluator.integer(of: expression)) }
            cut = .at(offsets)
        case nil: break
        }
        switch statement.pace {
        case .every(let interval)?: pace = .every(interval)
        case .rate(let rate)?: pace = .rate(rate)
        case nil: break
        }
    }
}
