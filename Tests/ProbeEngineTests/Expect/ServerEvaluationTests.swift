import ProbeBase
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `accept` and `expect no connection`.
struct ServerEvaluationTests {
    private static func row(
        _ wanted: ResolvedServerExpectation, _ now: Int, _ outcome: String, hasWaiting: Bool = false,
        handshake: ServerView.Handshake? = nil, isListening: Bool = true
    ) -> ExpectationRow {
        ExpectationRow(
            kind: ExpectationKind(wanted).rawValue, now: now, outcome: outcome,
            evaluate: { window in
                let view = ServerView(
                    name: "S", isListening: isListening, hasWaiting: hasWaiting || handshake != nil,
                    handshake: handshake)
                return ExpectationRow.text(ServerEvaluation(view: view, window: window).evaluate(wanted)) { "" }
            })
    }

    private static let success = ResolvedServerExpectation.handshake(fails: false, alert: nil)
    private static let failure = ServerView.Handshake.failed(reason: "late", alerts: [45])
    private static let none = ResolvedServerExpectation.noConnection(for: .milliseconds(100))

    static let rows: [ExpectationRow] = [
        row(.connection, 99, "pending until 100ms"),
        row(.connection, 99, "satisfied", hasWaiting: true),
        row(.connection, 100, "missed, failed: S received no connection within 100ms"),
        row(.connection, 100, "pending until 130ms").standingStill(),
        row(.connection, 130, "missed, failed: S received no connection within 100ms").standingStill(),
        row(.connection, 10, "error: S is not listening", isListening: false),
        row(success, 99, "pending until 100ms"),
        row(success, 100, "missed, failed: S received no connection within 100ms"),
        row(success, 10, "satisfied", hasWaiting: true),
        row(success, 10, "pending until 100ms", handshake: .underWay),
        row(success, 100, "missed, failed: S did not complete its TLS handshake within 100ms", handshake: .underWay),
        row(success, 10, "satisfied", handshake: .done),
        row(success, 10, "failed: S's TLS handshake failed: late", handshake: failure),
        row(.handshake(fails: true, alert: nil), 10, "failed: S's TLS handshake succeeded", handshake: .done),
        row(.handshake(fails: true, alert: nil), 10, "satisfied", handshake: failure),
        row(.handshake(fails: true, alert: 45), 10, "satisfied", handshake: failure),
        row(
            .handshake(fails: true, alert: 48), 10,
            "failed: S's TLS handshake failed without the alert unknown-ca: late", handshake: failure),
        row(none, 99, "pending until 100ms"),
        row(none, 100, "satisfied at 100ms"),
        row(none, 100, "pending until 130ms").standingStill(),
        row(
            none, 99, "failed: S received a connection 99ms after the step began, expected none for 100ms",
            hasWaiting: true),
        row(
            none, 100, "failed: S received a connection 100ms after the step began, expected none for 100ms",
            hasWaiting: true),
        row(none, 101, "satisfied at 100ms", hasWaiting: true),
        row(
            none, 110,
            "inconclusive: S received a connection 10ms after the expected silence of 100ms, but the harness itself stood still for "
                + "30ms in the meantime: the time of the event is unknown", hasWaiting: true
        ).standingStill(),
        row(none, 10, "error: S is not listening", isListening: false),
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }
}
