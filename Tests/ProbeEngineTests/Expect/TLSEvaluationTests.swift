import ProbeBase
import ProbeSystem
import Testing

@testable import ProbeEngine

/// The outcomes of an `expect` of a connection with TLS.
struct TLSEvaluationTests {
    private static func row(
        _ input: ExpectedInput, _ now: Int, _ outcome: String, bytes: String = "", fin: Int? = nil, rst: Int? = nil,
        notify: Int? = nil, alert: (code: UInt8, at: Int)? = nil, failure: Int? = nil, alertIsTaken: Bool = false,
        notifyIsNews: Bool = true, ignoresRest: Bool = false
    ) -> ExpectationRow {
        row(
            .input(input), now, outcome, bytes: bytes, fin: fin, rst: rst, notify: notify, alert: alert,
            failure: failure, alertIsTaken: alertIsTaken, notifyIsNews: notifyIsNews, ignoresRest: ignoresRest)
    }

    private static func row(
        _ wanted: ResolvedConnectionExpectation, _ now: Int, _ outcome: String, bytes: String = "", fin: Int? = nil,
        rst: Int? = nil, notify: Int? = nil, alert: (code: UInt8, at: Int)? = nil, failure: Int? = nil,
        alertIsTaken: Bool = false, notifyIsNews: Bool = true, ignoresRest: Bool = false
    ) -> ExpectationRow {
        ExpectationRow(
            kind: ExpectationKind(wanted), now: now, outcome: outcome,
            evaluate: { window in
                var view = ConnectionView(name: "C")
                view.receiveBuffer.append(Array(bytes.utf8), at: .milliseconds(3))
                view.end = fin.map { .eof(.milliseconds($0)) } ?? rst.map { .reset(.milliseconds($0)) }
                view.ignoresRest = ignoresRest
                view.tls = ConnectionView.TLS(
                    notifiedAt: notify.map { .milliseconds($0) }, notifyIsNews: notifyIsNews,
                    alerts: alert.map { [(TLSAlert(level: 2, code: $0.code), .milliseconds($0.at))] } ?? [],
                    alertIsTaken: alertIsTaken, failure: failure.map { ("bad record mac", .milliseconds($0)) })
                var progress = InputProgress()
                let outcome = ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress)
                return ExpectationRow.text(outcome) { match in
                    (match.bytes > 0 ? ", takes \(match.bytes)" : "") + (match.takesNotify ? ", takes notify" : "")
                        + (match.alerts > 0 ? ", takes \(match.alerts) alert" : "")
                }
            })
    }

    private static let line = ExpectedInput.line(.any, name: nil)
    private static let quiet = ResolvedConnectionExpectation.nothing(for: .milliseconds(100))

    static let rows: [ExpectationRow] = ends + messages + others

    private static let ends: [ExpectationRow] = [
        row(.eof, 10, "pending until 100ms"),
        row(.eof, 10, "satisfied at 7ms, takes notify", fin: 7, notify: 5),
        row(.eof, 10, "satisfied at 7ms, takes notify", fin: 7, notify: 5, notifyIsNews: false),
        row(.eof, 10, "pending until 100ms", notify: 5),
        row(.eof, 100, "missed, failed: C: eof (FIN) did not come within 100ms", notify: 5),
        row(
            .eof, 10, "failed: C: a FIN came without a close_notify: the stream may have been cut off", fin: 7),
        row(.eof, 10, "satisfied at 7ms", fin: 7, alertIsTaken: true),
        row(
            .eof, 10, "failed: C: the peer sent the alert internal-error (80) where eof (FIN) was expected", fin: 7,
            alert: (80, 5)),
        row(.eof, 10, "failed: C: TLS failed (bad record mac) where eof (FIN) was expected", failure: 5),
        row(.eof, 10, "failed: C: bytes came where eof (FIN) was expected", bytes: "a", fin: 7, notify: 5),
        row(
            .eof, 10, "satisfied at 7ms, takes 1, takes notify", bytes: "a", fin: 7, notify: 5, ignoresRest: true),
        row(.eof, 10, "failed: C: the connection was reset (RST) where eof (FIN) was expected", rst: 7),
        row(
            .eof, 10, "failed: C: the connection was reset (RST) behind close_notify where eof (FIN) was expected",
            rst: 7,
            notify: 5),
        row(.truncated, 10, "pending until 100ms"),
        row(.truncated, 10, "satisfied at 7ms", fin: 7),
        row(.truncated, 10, "failed: C: close_notify came where a FIN without close_notify was expected", notify: 5),
        row(
            .truncated, 10, "failed: C: close_notify came where a FIN without close_notify was expected", fin: 7,
            notify: 5),
        row(
            .truncated, 10,
            "failed: C: the connection was reset (RST) where a FIN without close_notify was expected", rst: 7),
        row(.reset, 10, "satisfied at 7ms", rst: 7, notify: 5, notifyIsNews: false),
        row(.closed, 10, "pending until 100ms"),
        row(.closed, 10, "satisfied at 7ms", fin: 7),
        row(.closed, 10, "satisfied at 7ms", rst: 7),
        row(.closed, 10, "satisfied at 5ms, takes notify", notify: 5),
        row(.closed, 10, "satisfied at 5ms, takes 1 alert", alert: (40, 5)),
        row(.closed, 10, "pending until 100ms", notify: 5, notifyIsNews: false),
        row(
            .closed, 10,
            "failed: C: TLS failed (bad record mac) where the end of the connection (FIN or RST) was expected",
            failure: 5),
    ]

    private static let messages: [ExpectationRow] = [
        row(.notify, 10, "pending until 100ms"),
        row(.notify, 10, "satisfied at 5ms, takes notify", notify: 5),
        row(.notify, 10, "satisfied at 5ms, takes notify", fin: 7, notify: 5),
        row(.notify, 10, "failed: C: a FIN came without a close_notify where close_notify was expected", fin: 7),
        row(.notify, 10, "failed: C: bytes came where close_notify was expected", bytes: "a", notify: 5),
        row(.notify, 10, "failed: C: the connection was reset (RST) where close_notify was expected", rst: 7),
        row(.notify, 100, "missed, failed: C: close_notify did not come within 100ms"),
        row(.alert(40), 10, "pending until 100ms"),
        row(.alert(40), 10, "satisfied at 5ms, takes 1 alert", alert: (40, 5)),
        row(
            .alert(40), 10,
            "failed: C: the peer sent the alert internal-error (80) where the alert handshake-failure was expected",
            alert: (80, 5)),
        row(
            .alert(40), 10, "failed: C: the peer sent close_notify where the alert handshake-failure was expected",
            notify: 5),
        row(
            .alert(40), 10,
            "failed: C: a FIN came without a close_notify where the alert handshake-failure was expected", fin: 7),
    ]

    private static let others: [ExpectationRow] = [
        row(line, 10, "pending until 100ms", bytes: "a"),
        row(line, 10, "satisfied at 3ms, takes 3", bytes: "a\r\n", fin: 7, alert: (40, 5)),
        row(line, 10, "failed: C: the peer sent close_notify where a line was expected", notify: 5),
        row(
            line, 10,
            "failed: C: the peer sent close_notify where a line was expected, after 1 bytes that are no whole one",
            bytes: "a", notify: 5),
        row(line, 10, "failed: C: a FIN came without a close_notify where a line was expected", fin: 7),
        row(
            line, 10, "failed: C: the peer sent the alert handshake-failure (40) where a line was expected",
            alert: (40, 5)),
        row(quiet, 100, "satisfied at 100ms"),
        row(quiet, 10, "failed: C: the peer sent close_notify where nothing was expected", notify: 5),
        row(quiet, 100, "satisfied at 100ms", notify: 5, notifyIsNews: false),
        row(
            quiet, 10, "failed: C: the peer sent the alert internal-error (80) where nothing was expected",
            alert: (80, 5)),
        row(quiet, 10, "failed: C: TLS failed (bad record mac) where nothing was expected", failure: 5),
    ]

    @Test(arguments: rows)
    func endsOfTLSAreToldApart(_ row: ExpectationRow) { row.verify() }
}
