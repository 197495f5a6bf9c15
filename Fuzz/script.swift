import ProbeScenario

/// Fuzzes scripts: the lexer, parser, checker, plan, diagnostics and formatter. The fuzzer is compiled with
/// ProbeScenario and ProbeBase only.
///
/// No input may cause a trap. In addition, formatting a formatted script must not change it, and it must be possible to
/// render every diagnostic.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScript(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let result = ScenarioCompiler.compile(path: "fuzz.scn", bytes: bytes) { (_) throws(LoadError) in
        throw .notFound
    }
    _ = DiagnosticRenderer(sources: result.sources).render(result.diagnostics)
    guard case .formatted(let once) = ScenarioFormatter.format(path: "fuzz.scn", bytes: bytes) else { return 0 }
    guard case .formatted(let twice) = ScenarioFormatter.format(path: "fuzz.scn", bytes: once) else {
        fatalError("the formatted script can't be read")
    }
    precondition(once == twice, "formatting twice changes the script again")
    return 0
}
