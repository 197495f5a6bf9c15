import ProbeBase
import ProbeScenario

/// Parses the values of `--to-client` and `--to-server`, which have the syntax of the step `forward`.
enum ForwardingText {
    /// Parses a forwarding style.
    ///
    /// - Parameter option: the option's name, for messages.
    /// - Returns: the style; `nil` if the option was not given.
    static func style(_ text: String?, of option: String) throws -> ForwardStyle<Resolved>? {
        guard let text else { return nil }
        // The text is parsed as the end of a `forward` step, so that there is only one grammar and one set of messages.
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
            let evaluator = Evaluator(
                scope: BoundScope(), sources: plan.sources, framing: plan.scenario.framing)
            return try evaluator.style(of: statement)
        } catch {
            throw refusal(text, of: option, error.reason.text, hint: error.reason.hint)
        }
    }

    private static func refusal(
        _ text: String, of option: String, _ reason: String?, hint: String?
    ) -> any Error {
        Failure.invalidUsage(
            "\(option) \(Escaped.quoted(text)): \(reason ?? "invalid value")\n  hint: "
                + (hint ?? "use a value such as \"in pieces of 1B every 5ms\""))
    }
}
