package import ProbeScenario

/// Adds explicit forwarding steps for the proxies that have no such steps in a script, so that forwarding can be
/// varied.
package struct ForwardSteps {
    private let plan: Plan

    package init(_ plan: Plan) { self.plan = plan }

    /// Returns the script with `X forward to server` and `X forward to client` before its first step; `nil` if every
    /// proxy already has steps that control forwarding.
    package func written() -> [UInt8]? {
        let scenario = plan.scenario
        let proxies = scenario.actors.filter { if case .proxy = $0.kind { true } else { false } }.map(\.name.value)
        let controlled = Set(scenario.allSteps.compactMap(Self.scriptControlledProxy))
        let silent = proxies.filter { !controlled.contains($0) }
        guard let first = scenario.steps.first, first.span.file == 0, !silent.isEmpty else { return nil }
        let bytes = plan.sources.files[0].bytes
        var edits = TextEdits()
        let start = SourceLines(bytes).start(of: first.span.start)
        let lines = silent.flatMap { ["\($0) forward to server\n", "\($0) forward to client\n"] }
        edits.replace(start..<start, with: lines.joined())
        return edits.applied(to: bytes)
    }

    /// Returns the proxy whose forwarding a step of the script controls; `nil` if the step does not control forwarding.
    private static func scriptControlledProxy(_ step: Step) -> String? {
        guard case .act(let name, .proxy(let action), _) = step.kind else { return nil }
        switch action {
        case .accept, .expect: return nil
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish:
            return name.value
        }
    }
}
