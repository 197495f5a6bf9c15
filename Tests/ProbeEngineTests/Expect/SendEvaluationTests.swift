import Glibc
import ProbeBase
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `expect` steps that wait for sent bytes.
struct SendEvaluationTests {
    private static func row(
        _ wanted: ConnectionExpectation<Resolved>, _ now: Int, _ outcome: String, _ state: SendOperation.State?,
        lastProgress: Int = 0
    ) -> ExpectationRow {
        ExpectationRow(
            kind: wanted.spelling, now: now, outcome: outcome,
            evaluate: { window in
                var view = ConnectionView(name: "C")
                view.send = state.map {
                    ConnectionView.Send(
                        state: $0, taken: 3, count: 9, lastProgress: .milliseconds(lastProgress),
                        lastProgressOfAny: .milliseconds(lastProgress))
                }
                var progress = InputProgress()
                let evaluation = ConnectionEvaluation(view: view, window: window)
                return ExpectationRow.text(evaluation.evaluate(wanted, &progress)) { _ in "" }
            })
    }

    private static let done = SendOperation.State.done(.milliseconds(7))
    private static let wasReset = SendOperation.State.failed(SystemError("send", code: ECONNRESET), .milliseconds(7))
    private static let wasShut = SendOperation.State.failed(SystemError("send", code: EPIPE), .milliseconds(7))
    private static let sent = ConnectionExpectation<Resolved>.sent
    private static let stalled = ConnectionExpectation<Resolved>.stalled(for: .milliseconds(30))

    static let rows: [ExpectationRow] =
        [
            row(sent, 10, "satisfied at 7ms", done),
            row(sent, 10, "pending until 60ms", .underWay, lastProgress: 10),
            row(sent, 70, "pending until 100ms", .underWay, lastProgress: 69),
            row(
                sent, 60, "missed, failed: C's send made no progress for 50ms: the kernel had accepted 3 of 9 bytes",
                .underWay, lastProgress: 10),
            // The send made no progress because the harness was stalled.
            row(sent, 95, "pending until 100ms", .underWay, lastProgress: 40).standingStill(),
            row(
                sent, 100,
                "missed, failed: C's send did not complete in time: the kernel had accepted 3 of 9 bytes", .underWay,
                lastProgress: 99),
            row(sent, 10, "error: C's connection was closed before all bytes were sent", .abandoned),
            row(sent, 10, "error: C is not sending anything in the background", nil),
            row(sendFailed(nil), 10, "satisfied at 7ms", wasReset),
            row(sendFailed("reset"), 10, "satisfied at 7ms", wasReset),
            // For the first send after an RST, Linux reports either ECONNRESET or EPIPE.
            row(sendFailed("reset"), 10, "satisfied at 7ms", wasShut),
            row(
                sendFailed("broken-pipe"), 10, "failed: C's send failed with reset, expected broken-pipe", wasReset),
            row(
                sendFailed(nil), 10,
                "failed: C's send succeeded but was expected to fail: the kernel accepted all 9 bytes",
                done),
            row(sendFailed(nil), 10, "pending until 100ms", .underWay),
            row(sendFailed(nil), 100, "pending until 130ms", .underWay).standingStill(),
            row(sendFailed(nil), 100, "missed, failed: C's send did not fail within 100ms", .underWay),
            row(sendFailed(nil), 10, "error: C is not sending anything in the background", nil),
            row(stalled, 10, "pending until 30ms", .underWay),
            row(stalled, 30, "satisfied at 30ms", .underWay),
            row(stalled, 30, "pending until 50ms", .underWay, lastProgress: 20),
            // The last progress of the send was made before the step began, so the stall is measured from the step's
            // start.
            row(stalled, 29, "pending until 30ms", .underWay, lastProgress: -500),
            row(
                stalled, 100,
                "missed, failed: C's send did not stall for 30ms: it was still making progress, with 3 of 9 bytes accepted by the kernel",
                .underWay,
                lastProgress: 90),
            row(stalled, 10, "failed: C's send did not stall: the kernel accepted all 9 bytes", done),
            row(stalled, 10, "error: C is not sending anything in the background", nil),
        ] + failures

    private static let failures = [
        row(
            sent, 10, "failed: C's send failed after 3 of 9 bytes: \(SystemError("send", code: EPIPE).reason)", wasShut),
        row(stalled, 10, "failed: C's send failed: \(SystemError("send", code: EPIPE).reason)", wasShut),
    ]

    private static func sendFailed(_ reason: String?) -> ConnectionExpectation<Resolved> { .sendFailed(reason: reason) }

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }
}
