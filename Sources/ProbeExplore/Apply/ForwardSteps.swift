package import ProbeScenario

/// Writes into a script how its proxies pass bytes on, where it says nothing of it: these steps are varied.
package struct ForwardSteps {
    private let plan: Plan

    package init(_ plan: Plan) { self.plan = plan }

    /// The text of the script with `X forward to server` and `X forward to client` before its first step; nil where nothing is missing.
    package func written() -> [UInt8]? {
        let scenario = plan.scenario
        let proxies = scenario.actors.filter { if case .proxy = $0.kind { true } else { false } }.map(\.name.value)
        let told = Set(scenario.allSteps.compactMap(Self.proxyThatIsTold))
        let silent = proxies.filter { !told.contains($0) }
        guard let first = scenario.steps.first, first.span.file == 0, !silent.isEmpty else { return nil }
        let bytes = plan.sources.files[0].bytes
        var edits = TextEdits()
        let start = SourceLines(bytes).start(of: first.span.start)
        let lines = silent.flatMap { ["\($0) forward to server\n", "\($0) forward to client\n"] }
        edits.replace(start..<start, with: lines.joined())
        return edits.applied(to: bytes)
    }

    /// A proxy whose forwarding the script chooses itself.
    private static func proxyThatIsTold(_ step: Step) -> String? {
        guard case .act(let name, .proxy(let action), _) = step.kind else { return nil }
        switch action {
        case .accept, .expect: return nil
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish:
            return name.value
        }
    }
}
