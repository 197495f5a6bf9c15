package import ProbeDiagnose

extension DiagnosisReport {
    /// The flows that the page of the diagnosis shows first: those with problems and warnings of their own, followed by
    /// those whose findings are all parts of findings about several flows.
    package var first: [FlowDiagnosis] {
        let flows = ordered.filter { $0.severity.map { $0 != .note } ?? false }
        return flows.filter { !$0.isOnlyPart } + flows.filter(\.isOnlyPart)
    }

    /// Returns the numbers of the packets that are evidence for findings about several flows or about one of the given
    /// flows.
    package func evidence(of numbers: Set<Int>) -> Set<Int> {
        let findings = flows.lazy.filter { numbers.contains($0.number) }.flatMap(\.findings)
        return Set((findings + shared.map(\.finding)).flatMap(\.evidence))
    }
}
