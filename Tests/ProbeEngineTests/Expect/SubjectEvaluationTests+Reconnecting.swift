import ProbeTransport

@testable import ProbeEngine

/// Rows about lost connections and attempts to reconnect.
extension SubjectEvaluationTests {
    private static func lost(_ reason: StopReason, dropped: Int = 0) -> SubjectReport.Event {
        .lost(reason, dropped: dropped, detail: nil)
    }

    static let reconnecting: [ExpectationRow] = [
        row(.lost(reason: "eof", name: nil), 10, "satisfied at 5ms, takes 1", reported((lost(.eof), 5), (.started, 6))),
        row(.lost(reason: nil, name: nil), 10, "satisfied at 5ms, takes 1", reported((lost(.reset), 5))),
        row(
            .lost(reason: "eof", name: nil), 10, "pending until 100ms",
            reported((.attemptFailed(.refused, detail: nil), 5))
        ),
        row(
            .lost(reason: "eof", name: nil), 10, "failed: T reported lost reset, expected lost eof",
            reported((lost(.reset), 5))),
        row(
            .lost(reason: "eof", name: nil), 10, "failed: T reported leftover \"a\", expected lost eof",
            reported((.leftover(bytes("a")), 5), (lost(.eof), 6))),
        // If a connection ends for a reason other than `eof`, a `leftover` report is optional, so the report of the
        // loss may still follow.
        row(.lost(reason: "reset", name: nil), 10, "pending until 100ms", reported((.leftover(bytes("a")), 5))),
        row(
            .lost(reason: "reset", name: nil), 10, "satisfied at 6ms, takes 2",
            reported((.leftover(bytes("a")), 5), (lost(.reset), 6))),
        row(
            .lost(reason: "eof", name: nil), 10, "failed: T reported `stopped eof`, expected lost eof",
            reported((ended, 5))
        ),
        row(
            .line(value("a"), name: nil), 10, "failed: T reported lost eof, expected line \"a\"",
            reported((lost(.eof), 5))),
        // A `started` report about the earlier connection doesn't satisfy an expectation about the next connection.
        row(.started, 10, "pending until 100ms", reported((.started, 4), (lost(.eof), 5))),
        row(.started, 10, "satisfied at 6ms", reported((.started, 4), (lost(.eof), 5), (.started, 6))),
        row(
            .attemptFailed(reason: "refused"), 10, "satisfied at 5ms, takes 1 attempt",
            reported((.attemptFailed(.refused, detail: nil), 5))),
        row(
            .attemptFailed(reason: "refused"), 10,
            "failed: T reported attempt-failed timeout, expected attempt-failed refused",
            reported((.attemptFailed(.timeout, detail: nil), 5))),
        row(.attemptFailed(reason: nil), 10, "pending until 100ms", reported((lost(.eof), 5))),
        // The bytes that were dropped when the connection was lost are added to the number of bytes sent.
        row(.sent(requested: 5), 10, "satisfied at 4ms", reported((.sent(3), 4), (lost(.eof, dropped: 2), 5))),
        row(
            .sent(requested: 5), 10,
            "failed: T reported 4 bytes sent and 2 dropped, more than the 5 that it was asked to send",
            reported((.sent(4), 4), (lost(.eof, dropped: 2), 5))),
    ]
}
