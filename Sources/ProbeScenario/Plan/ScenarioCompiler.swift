package import ProbeBase

/// Compiles the text of a scenario into a plan.
package enum ScenarioCompiler {
    /// Parses, checks and plans one scenario. Never traps, whatever the bytes are, and takes time linear in the number
    /// of bytes.
    ///
    /// - Parameters:
    ///   - path: the path as the user gave it, for messages; files that the script names are relative to it.
    ///   - bytes: the bytes of the script.
    ///   - settings: values for `let`s of the header, keyed by name. They replace the values in the script.
    ///   - targets: the addresses that the script may use; `nil` allows any address, which is sufficient for listing
    ///     the cases.
    ///   - loader: reads includes and the files of `file(…)`.
    /// - Returns: a plan if there is no error, and all diagnostics in source order.
    package static func compile(
        path: String, bytes: [UInt8], settings: [String: [UInt8]] = [:],
        allowing targets: AllowedTargets? = AllowedTargets(),
        loader: @escaping FileLoader
    ) -> CompilationResult {
        var context = ParseContext(path: path, bytes: bytes, loader: loader)
        FileParser.parse(file: 0, bytes: bytes, into: context, isInclude: false)
        if context.needsSecondReading {
            // The kind of an actor may be unknown when its first step is parsed: a `define` may precede the actors that
            // it uses, and the actors may be declared in a file that is included later.
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

extension ScenarioCompiler {
    /// Returns, for code completion, the places at which the parser reports errors in a part of a script. Nothing is
    /// checked, and no file is read.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of whole statements; only the last statement may be incomplete.
    ///   - actors: the actors that the rest of the script declares.
    package static func syntaxErrors(in bytes: [UInt8], actors: [String: ActorKind]) -> [SourceSpan] {
        let context = ParseContext(path: "", bytes: bytes) { _ throws(LoadError) in throw .notFound }
        for (name, kind) in actors { context.bindActor(name, kind) }
        FileParser.parse(file: 0, bytes: bytes, into: context, isInclude: false)
        return context.diagnostics.sorted.filter { $0.severity == .error }.map(\.span)
    }
}

/// The result of compiling a script.
package struct CompilationResult: Sendable {
    /// The plan; `nil` if there is an error.
    package let plan: Plan?
    /// All diagnostics, in source order.
    package let diagnostics: [Diagnostic]
    package let sources: SourceMap

    package var hasErrors: Bool { plan == nil }
}
