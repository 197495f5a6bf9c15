import ProbeBase
import ProbeScenario

/// Compiles a script whose includes are given as text.
func compile(
    _ text: String, path: String = "test.scn", settings: [String: [UInt8]] = [:], files: [String: String] = [:],
    allowing targets: AllowedTargets? = AllowedTargets()
) -> CompilationResult {
    ScenarioCompiler.compile(
        path: path, bytes: Array(text.utf8), settings: settings, allowing: targets
    ) { name throws(LoadError) in
        guard let file = files[name.shown] else { throw .notFound }
        return Array(file.utf8)
    }
}

extension CompilationResult {
    /// The text of all diagnostics, as users see it.
    var rendered: String { DiagnosticRenderer(sources: sources).render(diagnostics) }
}
