import ProbeScenario
import Testing

/// The examples that `explain` prints must be accurate: the wrong example causes the diagnostic, and the right one
/// doesn't.
@Suite struct DiagnosticExplanationTests {
    /// The diagnostics whose examples are the contents of an included file.
    private static let ofIncludes: Set<DiagnosticID> = [.stepInInclude, .scenarioInInclude, .includeCycle]
    /// The diagnostics whose wrong examples are whole files.
    private static let ofFiles: Set<DiagnosticID> = [.noScenario, .emptyScript, .missingScenario, .scenarioNotFirst]

    private func compiled(_ text: String, _ id: DiagnosticID) -> CompilationResult {
        if Self.ofIncludes.contains(id) {
            let main = "scenario \"example\"\ninclude \"common.scn\"\nserver S\nclient C -> S\nC connect\nS accept\n"
            return compile(main, files: ["common.scn": text])
        }
        let isWhole = text.hasPrefix("scenario") || Self.ofFiles.contains(id)
        return compile((isWhole ? "" : DiagnosticExplanation.frame) + text + "\n", files: ["common.scn": "let a = 1\n"])
    }

    @Test(arguments: DiagnosticID.allCases)
    func examplesMatchTheirDiagnostics(_ id: DiagnosticID) {
        let explanation = DiagnosticExplanation.of(id)
        #expect(explanation.meaning.count > 20)
        if let wrong = explanation.wrong {
            let result = compiled(wrong, id)
            #expect(result.diagnostics.contains { $0.id == id }, "\(result.rendered)")
            // Each example has only one kind of mistake.
            let ids = Set(result.diagnostics.map(\.id))
            #expect(ids == [id] || ids == [id, .nothingTested], "\(result.rendered)")
        }
        if let right = explanation.right {
            let result = compiled(right, id)
            // An example that consists of one line may contain no expectation.
            let allowed: Set<DiagnosticID> = id == .nothingTested ? [] : [.nothingTested]
            #expect(Set(result.diagnostics.map(\.id)).isSubset(of: allowed), "\(result.rendered)")
        }
    }

    @Test func everyDiagnosticHasAnExplanation() {
        #expect(Set(DiagnosticExplanation.table.keys) == Set(DiagnosticID.allCases))
    }

    @Test func mostExplanationsHaveExamples() {
        let without = DiagnosticID.allCases.filter { DiagnosticExplanation.of($0).wrong == nil }
        #expect(Set(without) == [.notUTF8, .nulByte, .tooLarge, .tooManyErrors, .unknownSetting])
    }
}
