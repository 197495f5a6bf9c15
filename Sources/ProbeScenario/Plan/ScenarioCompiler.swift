package import ProbeBase

/// Text in, plan out.
package enum ScenarioCompiler {
    /// Reads, checks and plans one scenario. Never traps, whatever the bytes are; takes time linear in them.
    ///
    /// - Parameters:
    ///   - path: as the user gave it; it stands in every message, and what the script names is found relative to it.
    ///   - bytes: of the script.
    ///   - settings: values for `let`s of the header, by name, that replace those of the script.
    ///   - targets: the addresses that the script may use; nil: any, as for a list of its cases.
    ///   - loader: reads includes and the files of `file(…)`.
    /// - Returns: a plan when there is no error, and all that is to be said about the script, in the order of the text.
    package static func compile(
        path: String, bytes: [UInt8], settings: [String: [UInt8]] = [:],
        allowing targets: AllowedTargets? = AllowedTargets(),
        loader: @escaping FileLoader
    ) -> CompilationResult {
        var context = ParseContext(path: path, bytes: bytes, loader: loader)
        FileParser.parse(file: 0, bytes: bytes, into: context, isInclude: false)
        if context.needsSecondReading {
            // A `define` may stand above the actors that it is about, and an include below both.
            context = ParseContext(path: path, bytes: bytes, kindsKnownBefore: context.actorKinds, loader: loader)
            FileParser.parse(file: 0, bytes: bytes, into: context, isInclude: false)
        }
        if context.diagnostics.hasErrors,
            let (verdict, span) = context.evidence.verdict(on: bytes, title: context.titleStatement)
        {
            var only = Diagnostics()
            only.add(Diagnostic(verdict, span: span))
            return CompilationResult(plan: nil, diagnostics: only.sorted, sources: context.sources)
        }
        var plan: Plan?
        if !context.isUnreadable {
            context.finish(settings: settings)
            ScenarioChecker(context, allowing: targets).check()
            if !context.diagnostics.hasErrors {
                let cases = CaseExpansion.cases(of: context)
                if !context.diagnostics.hasErrors {
                    plan = Plan(scenario: context.scenario, sources: context.sources, cases: cases)
                }
            }
        }
        return CompilationResult(plan: plan, diagnostics: context.diagnostics.sorted, sources: context.sources)
    }
}

/// What came of a script.
package struct CompilationResult: Sendable {
    /// nil when there is an error.
    package let plan: Plan?
    /// In the order of the text, all of them.
    package let diagnostics: [Diagnostic]
    package let sources: SourceMap

    package var hasErrors: Bool { plan == nil }
}
