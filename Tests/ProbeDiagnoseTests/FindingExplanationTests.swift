@testable import ProbeDiagnose
import Testing

struct FindingExplanationTests {
    @Test(arguments: FindingID.allCases)
    func pagesAreCompleteAndFitOnAScreen(_ id: FindingID) {
        let page = FindingExplanation.page(of: id)
        let lines = page.split(separator: "\n")
        #expect(page.hasPrefix("\(id.rawValue): "))
        #expect(8...20 ~= lines.count, "\(page)")
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(page)")
        #expect(page.count { $0 == "`" }.isMultiple(of: 2), "\(page)")
        for label in ["packets", "severity", "certainty", "side", "next"] {
            #expect(page.contains("\n  \(label) "), "\(page)")
        }
        #expect(!FindingExplanation.of(id).meaning.hasSuffix("."))
    }

    @Test(arguments: FindingID.allCases)
    func pagesNameWhatTheFindingExplains(_ cause: FindingID) {
        let named = Set(FindingExplanation.of(cause).explains.flatMap(\.ids))
        // Findings about several flows are never in the list of a flow.
        let others = FindingID.allCases.filter { !$0.isAboutSeveralFlows && $0 != cause }
        let explained = others.filter { other in
            FindingSeverity.allCases.contains { severity in
                FindingSeverity.allCases.contains { explains(cause, severity, other, $0) }
            }
        }
        #expect(named == Set(cause.isAboutSeveralFlows ? [] : explained))
    }

    @Test(arguments: FindingID.allCases)
    func onlyConditionalExplanationsDependOnSeverity(_ cause: FindingID) {
        for consequences in FindingExplanation.of(cause).explains where consequences.condition == nil {
            for other in consequences.ids where !cause.isFailedSetUp {
                #expect(
                    FindingSeverity.allCases.allSatisfy { severity in
                        FindingSeverity.allCases.allSatisfy { explains(cause, severity, other, $0) }
                    }, "\(cause.rawValue) explains \(other.rawValue)")
            }
        }
    }

    @Test(arguments: FindingID.allCases.filter(\.isAboutSeveralFlows))
    func pagesNameThePartsOfSharedFindings(_ id: FindingID) {
        #expect(Set(FindingExplanation.of(id).parts) == SharedFindings.parts(of: id))
    }

    /// Returns whether `cause` suppresses `other`.
    private func explains(
        _ cause: FindingID, _ severity: FindingSeverity, _ other: FindingID, _ otherSeverity: FindingSeverity
    ) -> Bool {
        Suppression.apply([finding(cause, severity), finding(other, otherSeverity)]).suppressed.contains {
            $0.id == other && $0.suppressedBy == cause
        }
    }

    private func finding(_ id: FindingID, _ severity: FindingSeverity) -> FlowFinding {
        FlowFinding(
            id: id, severity: severity, certainty: .likely, side: .server, evidence: [1], sentence: "", next: "",
            rivals: [], numbers: [], explained: 0)
    }
}
