import ProbeBase
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `expect` steps on a connection with TLS.
struct TLSEvaluationTests {
    /// Returns a row about a connection with TLS.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that arrived at 3 ms.
    ///   - events: the received TLS messages, each with the number of bytes before it.
    ///   - taken: the TLS messages that steps have already expected.
    private static func row(
        _ wanted: ConnectionExpectation<Resolved>, _ now: Int, _ outcome: String, bytes: String = "", fin: Int? = nil,
        rst: Int? = nil, events: [TLSEvent] = [], taken: [TLSEvent] = [], isUp: Bool = true, ignoresRest: Bool = false
    ) -> ExpectationRow {
        ExpectationRow(
            kind: wanted.spelling, now: now, outcome: outcome,
            evaluate: { window in
                var view = ConnectionView(name: "C")
                view.receiveBuffer.append(Array(bytes.utf8), at: .milliseconds(3))
                view.end = fin.map { .eof(.milliseconds($0)) } ?? rst.map { .reset(.milliseconds($0)) }
                view.ignoresRest = ignoresRest
                view.tls = ConnectionView.TLS(taken: taken[...], events: events[...], isUp: isUp)
                var progress = InputProgress()
                let outcome = ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress)
                return ExpectationRow.text(outcome) { match in
                    (match.bytes > 0 ? ", takes \(match.bytes)" : "")
                        + (match.events > 0 ? ", passes \(match.events)" : "")
                        + (match.consumesEnd ? ", takes the end" : "")
                }
            })
    }

    private static func notify(_ time: Int, after offset: Int = 0) -> TLSEvent {
        TLSEvent(what: .notify, offset: offset, time: .milliseconds(time))
    }

    private static func alert(_ code: UInt8, _ time: Int, after offset: Int = 0) -> TLSEvent {
        TLSEvent(
            what: .alert(TLSAlert(level: 2, code: code), isEnd: true), offset: offset, time: .milliseconds(time))
    }

    private static func warning(_ code: UInt8, _ time: Int, after offset: Int = 0) -> TLSEvent {
        TLSEvent(
            what: .alert(TLSAlert(level: 1, code: code), isEnd: false), offset: offset, time: .milliseconds(time))
    }

    private static func failure(_ time: Int, after offset: Int = 0) -> TLSEvent {
        TLSEvent(what: .failure("bad record mac"), offset: offset, time: .milliseconds(time))
    }

    private static let line = ConnectionExpectation<Resolved>.line(.any, as: nil)
    private static let quiet = ConnectionExpectation<Resolved>.nothing(for: .milliseconds(100))

    static let rows: [ExpectationRow] = ends + messages + others

    private static let ends: [ExpectationRow] = [
        row(.eof, 10, "pending until 100ms"),
        row(.eof, 10, "satisfied at 7ms, passes 1, takes the end", fin: 7, events: [notify(5)]),
        row(.eof, 10, "satisfied at 7ms, takes the end", fin: 7, taken: [notify(5)]),
        row(.eof, 10, "pending until 100ms", events: [notify(5)]),
        row(.eof, 100, "missed, failed: C did not receive eof (FIN) within 100ms", events: [notify(5)]),
        row(
            .eof, 10, "failed: C received a FIN without a close_notify: the stream may have been truncated", fin: 7),
        row(.eof, 10, "satisfied at 7ms, takes the end", fin: 7, taken: [alert(40, 5)]),
        row(
            .eof, 10, "failed: the peer sent the alert internal-error (80) while C expected eof (FIN)", fin: 7,
            events: [alert(80, 5)]),
        row(.eof, 10, "failed: TLS failed (bad record mac) while C expected eof (FIN)", events: [failure(5)]),
        row(
            .eof, 10, "failed: C received data, expected eof (FIN)", bytes: "a", fin: 7,
            events: [notify(5, after: 1)]),
        row(
            .eof, 10, "satisfied at 7ms, takes 1, passes 1, takes the end", bytes: "a", fin: 7,
            events: [notify(5, after: 1)],
            ignoresRest: true),
        row(.eof, 10, "failed: C's connection was reset (RST) while C expected eof (FIN)", rst: 7),
        row(
            .eof, 10, "failed: C's connection was reset (RST) after close_notify while C expected eof (FIN)",
            rst: 7,
            events: [notify(5)]),
        row(.truncated, 10, "pending until 100ms"),
        row(.truncated, 10, "satisfied at 7ms, takes the end", fin: 7),
        row(
            .truncated, 10, "failed: C received close_notify, expected a FIN without close_notify",
            events: [notify(5)]),
        row(
            .truncated, 10, "failed: C received close_notify, expected a FIN without close_notify", fin: 7,
            events: [notify(5)]),
        row(
            .truncated, 10,
            "failed: C's connection was reset (RST) while C expected a FIN without close_notify", rst: 7),
        row(.reset, 10, "satisfied at 7ms, takes the end", rst: 7, taken: [notify(5)]),
        row(.closed, 10, "pending until 100ms"),
        row(.closed, 10, "satisfied at 7ms, takes the end", fin: 7),
        row(.closed, 10, "satisfied at 7ms, takes the end", rst: 7),
        row(.closed, 10, "satisfied at 5ms, passes 1, takes the end", events: [notify(5)]),
        row(.closed, 10, "satisfied at 5ms, passes 1, takes the end", events: [alert(40, 5)]),
        row(.closed, 10, "pending until 100ms", taken: [notify(5)]),
        row(
            .closed, 10,
            "failed: TLS failed (bad record mac) while C expected the end of the connection (FIN or RST)",
            events: [failure(5)]),
        // Steps must expect bytes and TLS messages in the order in which they arrived.
        row(
            .reset, 10, "failed: the peer sent close_notify while C expected reset (RST)", rst: 7,
            events: [notify(5)]),
        row(.closed, 10, "satisfied at 5ms, passes 1, takes the end", fin: 7, events: [notify(5)]),
        row(.eof, 10, "satisfied at 7ms, passes 2, takes the end", fin: 7, events: [warning(90, 4), notify(5)]),
        row(.eof, 10, "pending until 100ms", events: [warning(90, 4)]),
        row(.closed, 10, "pending until 100ms", events: [warning(90, 4)]),
        row(.truncated, 10, "satisfied at 7ms, takes the end", fin: 7, taken: [alert(40, 5)]),
        row(
            .eof, 10, "failed: C received a FIN without a close_notify: the stream may have been truncated", fin: 7,
            taken: [warning(100, 5)]),
        row(
            .eof, 10, "failed: the peer sent the alert no-renegotiation (100) while C expected eof (FIN)", fin: 7,
            events: [warning(100, 5), notify(6)]),
        row(.eof, 10, "satisfied at 7ms, takes the end", fin: 7, isUp: false),
    ]

    private static let messages: [ExpectationRow] = [
        row(.notify, 10, "pending until 100ms"),
        row(.notify, 10, "satisfied at 5ms, passes 1", events: [notify(5)]),
        row(.notify, 10, "satisfied at 5ms, passes 1", fin: 7, events: [notify(5)]),
        row(.notify, 10, "failed: C received a FIN without a close_notify, expected close_notify", fin: 7),
        row(
            .notify, 10, "failed: C received data, expected close_notify", bytes: "a",
            events: [notify(5, after: 1)]),
        row(.notify, 10, "failed: C's connection was reset (RST) while C expected close_notify", rst: 7),
        row(.notify, 100, "missed, failed: C did not receive close_notify within 100ms"),
        row(.alert(40), 10, "pending until 100ms"),
        row(.alert(40), 10, "satisfied at 5ms, passes 1", events: [alert(40, 5)]),
        row(
            .alert(40), 10,
            "failed: the peer sent the alert internal-error (80) while C expected the alert handshake-failure",
            events: [alert(80, 5)]),
        row(
            .alert(40), 10, "failed: the peer sent close_notify while C expected the alert handshake-failure",
            events: [notify(5)]),
        row(
            .alert(40), 10,
            "failed: C received a FIN without a close_notify, expected the alert handshake-failure", fin: 7),
        row(.alert(40), 10, "satisfied at 5ms, passes 1", bytes: "a", events: [alert(40, 5)]),
        row(
            .alert(40), 10, "failed: C received data, expected the alert handshake-failure", bytes: "a",
            events: [alert(40, 5, after: 1)]),
        row(
            .alert(40), 10, "satisfied at 5ms, takes 1, passes 1", bytes: "a", events: [alert(40, 5, after: 1)],
            ignoresRest: true),
        row(.alert(40), 10, "satisfied at 5ms, passes 2", events: [warning(90, 4), alert(40, 5)]),
        row(.alert(90), 10, "satisfied at 4ms, passes 1", events: [warning(90, 4), notify(5)]),
        row(
            .alert(90), 10, "failed: the peer sent close_notify while C expected the alert user-canceled",
            events: [notify(4)]),
        row(.notify, 10, "satisfied at 5ms, passes 2", events: [warning(90, 4), notify(5)]),
        row(
            .notify, 10, "failed: the peer sent the alert no-renegotiation (100) while C expected close_notify",
            events: [warning(100, 4), notify(5)]),
    ]

    private static let others: [ExpectationRow] = [
        row(line, 10, "pending until 100ms", bytes: "a"),
        row(line, 10, "satisfied at 3ms, takes 3", bytes: "a\r\n", fin: 7, events: [alert(40, 5, after: 3)]),
        row(line, 10, "failed: the peer sent close_notify while C expected a line", events: [notify(5)]),
        row(
            line, 10,
            "failed: the peer sent close_notify while C expected a line, after 1 byte of incomplete input",
            bytes: "a", events: [notify(5, after: 1)]),
        row(line, 10, "failed: C received a FIN without a close_notify, expected a line", fin: 7),
        row(
            line, 10, "failed: the peer sent the alert handshake-failure (40) while C expected a line",
            events: [alert(40, 5)]),
        row(quiet, 100, "satisfied at 100ms"),
        row(quiet, 10, "failed: the peer sent close_notify while C expected silence for 100ms", events: [notify(5)]),
        row(quiet, 100, "satisfied at 100ms", taken: [notify(5)]),
        row(
            quiet, 10, "failed: the peer sent the alert internal-error (80) while C expected silence for 100ms",
            events: [alert(80, 5)]),
        row(quiet, 10, "failed: TLS failed (bad record mac) while C expected silence for 100ms", events: [failure(5)]),
        row(line, 10, "satisfied at 3ms, takes 3", bytes: "a\r\n", events: [alert(40, 5, after: 3)]),
        row(
            line, 10, "failed: the peer sent the alert handshake-failure (40) while C expected a line",
            bytes: "a\r\n", events: [alert(40, 5)]),
        row(
            line, 10,
            "failed: the peer sent the alert no-renegotiation (100) while C expected a line, after 1 byte of incomplete input",
            bytes: "a\r\n", events: [warning(100, 5, after: 1)]),
        row(line, 10, "satisfied at 3ms, takes 3, passes 1", bytes: "a\r\n", events: [warning(90, 5, after: 1)]),
        row(line, 10, "satisfied at 3ms, takes 3", bytes: "a\r\n", events: [warning(90, 5, after: 3)]),
        row(line, 10, "failed: TLS failed (bad record mac) while C expected a line", events: [failure(5)]),
        row(line, 100, "failed: TLS failed (bad record mac) while C expected a line", events: [failure(5)]),
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }
}
