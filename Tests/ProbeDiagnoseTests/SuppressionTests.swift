import Testing

@testable import ProbeDiagnose

/// Tests which findings are consequences of others.
struct SuppressionTests {
    private func finding(_ id: FindingID, _ side: FindingSide) -> FlowFinding {
        FlowFinding(
            id: id, severity: .warning, certainty: .certain, side: side, evidence: [1], sentence: "", next: "",
            rivals: [], numbers: [], explained: 0)
    }

    /// A window that is filled while a queue delays the same direction is not the limit.
    @Test(arguments: [FindingSide.client, .server])
    func queueExplainsFullWindow(reader: FindingSide) {
        let result = Suppression.apply([finding(.windowLimited, reader), finding(.bufferbloat, .pathToClient)])
        #expect(result.suppressed.map(\.id) == (reader == .client ? [.windowLimited] : []))
    }

    /// What a peer that vanished did not acknowledge is no other fault.
    @Test func vanishedPeerExplainsLostData() {
        let result = Suppression.apply([finding(.dataLostAtClose, .client), finding(.vanished, .client)])
        #expect(result.shown.map(\.id) == [.vanished])
    }
}
