import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `expect` steps for a subject.
struct SubjectEvaluationTests {
    static func row(
        _ wanted: ResolvedSubjectExpectation, _ now: Int, _ outcome: String,
        _ prepare: @escaping @Sendable (inout SubjectReports) -> Void = { _ in }
    ) -> ExpectationRow {
        ExpectationRow(
            kind: ExpectationKind(wanted).rawValue, now: now, outcome: outcome,
            evaluate: { window in
                var reports = SubjectReports()
                reports.wasStarted = true
                prepare(&reports)
                var progress = SubjectProgress()
                let evaluation = SubjectEvaluation(name: "T", reports: reports, framing: .crlf, window: window)
                return ExpectationRow.text(evaluation.evaluate(wanted, &progress)) { match in
                    (match.deliveries > 0 ? ", takes \(match.deliveries)" : "")
                        + (match.controls > 0 ? ", takes \(match.controls) of control" : "")
                        + (match.pressures > 0 ? ", takes \(match.pressures) of pressure" : "")
                        + (match.failedAttempts > 0 ? ", takes \(match.failedAttempts) attempt" : "")
                        + (match.rest.isEmpty ? "" : ", leaves \(match.rest.count) bytes")
                        + (match.accepted.map { ", number \($0)" } ?? "") + ExpectationRow.text(match.bindings)
                }
            })
    }

    /// Appends reports, each with its time in milliseconds.
    static func reported(_ events: (SubjectReport.Event, Int)...) -> @Sendable (inout SubjectReports) -> Void {
        { reports in
            reports.startedAt = .milliseconds(0)
            for (event, time) in events {
                reports.add(SubjectReport(connection: 1, event: event, time: .milliseconds(time)))
            }
        }
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    static func value(_ text: String) -> ExpectedText { .value(bytes(text)) }
    static let ended = SubjectReport.Event.stopped(.eof, detail: nil)
    static let wasReset = SubjectReport.Event.stopped(.reset, detail: nil)
    static let half = SubjectReport.Event.leftover(bytes("half"))

    static let rows: [ExpectationRow] =
        started + secured + deliveries + webSocket + reconnecting + sentAndRefused + stopped + silence
        + resources

    private static func measured(_ amount: Int, _ now: Int, _ outcome: String) -> ExpectationRow {
        let resource = ResolvedResourceExpectation(resource: .descriptors, wanted: .amount(.lessOrEqual, 10))
        let wanted = ResolvedSubjectExpectation.resource(resource)
        return ExpectationRow(
            kind: ExpectationKind(wanted).rawValue, now: now, outcome: outcome,
            evaluate: { window in
                var progress = SubjectProgress()
                let evaluation = SubjectEvaluation(
                    name: "T", reports: SubjectReports(), framing: .crlf, window: window,
                    measure: ResourceMeasure(amount: amount, at: window.now))
                return ExpectationRow.text(evaluation.evaluate(wanted, &progress)) { _ in "" }
            })
    }

    /// Expectations about the resource usage of the subject's adapter, whether or not the subject was started.
    private static let resources = [
        measured(10, 10, "satisfied at 10ms"),
        measured(11, 10, "pending until 11ms"),
        measured(11, 100, "missed, failed: T's adapter has 11 descriptors open, expected at most 10 within 100ms"),
    ]

    private static let secured = [
        row(.secured, 99, "pending until 100ms"),
        row(.secured, 100, "missed, failed: T did not report secured within 100ms"),
        row(.secured, 500, "satisfied at 5ms", reported((.secured(.tls12, protocol: nil), 5))),
        // Lines that no step has consumed don't prevent `secured` from being satisfied.
        row(.secured, 10, "satisfied at 5ms", reported((.secured(.tls13, protocol: nil), 5), (.line(bytes("x")), 6))),
        row(
            .secured, 10, "failed: T reported `stopped tls-failed`, expected secured",
            reported((.stopped(.tlsFailed, detail: nil), 5))),
    ]

    private static let binary = SubjectReport.Event.message(bytes("a"), kind: .binary)
    private static let closed = SubjectReport.Event.stopped(.closed(code: 1001), detail: nil)

    private static let webSocket = [
        row(.message(value("a"), name: nil, kind: .binary), 10, "satisfied at 5ms, takes 1", reported((binary, 5))),
        row(.message(value("a"), name: nil, kind: nil), 10, "satisfied at 5ms, takes 1", reported((binary, 5))),
        row(
            .message(value("a"), name: nil, kind: .text), 10,
            "failed: T reported message binary \"a\", expected message text \"a\"", reported((binary, 5))),
        // A message whose kind is not reported does not match an expected kind.
        row(
            .message(value("a"), name: nil, kind: .text), 10,
            "failed: T reported message \"a\", expected message text \"a\"",
            reported((.message(bytes("a"), kind: nil), 5))),
        row(
            .message(value("a"), name: nil, kind: .text), 10,
            "failed: T reported line \"a\", expected message text \"a\"", reported((.line(bytes("a")), 5))),
        // Control messages and data messages are consumed independently.
        row(
            .control(isPing: true, nil), 10, "satisfied at 6ms, takes 1 of control",
            reported((binary, 5), (.ping(bytes("7")), 6))),
        row(
            .message(.any, name: nil, kind: nil), 10, "satisfied at 6ms, takes 1", reported((.ping([]), 5), (binary, 6))
        ),
        row(
            .control(isPing: true, bytes("7")), 10, "satisfied at 6ms, takes 1 of control",
            reported((.ping(bytes("7")), 6))
        ),
        row(
            .control(isPing: true, bytes("7")), 10, "failed: T reported ping \"8\", expected ping \"7\"",
            reported((.ping(bytes("8")), 6))),
        row(
            .control(isPing: false, nil), 10, "failed: T reported ping \"7\", expected pong",
            reported((.ping(bytes("7")), 6))),
        row(.control(isPing: false, nil), 10, "pending until 100ms", reported((binary, 6))),
        row(.control(isPing: false, nil), 100, "missed, failed: T did not report pong within 100ms"),
        row(
            .control(isPing: false, nil), 10, "failed: T reported `stopped closed 1001`, expected pong",
            reported((closed, 6))),
        row(.stopped(reason: "closed", code: nil), 10, "satisfied at 6ms", reported((.ping([]), 5), (closed, 6))),
        row(.stopped(reason: "closed", code: 1001), 10, "satisfied at 6ms", reported((closed, 6))),
        row(
            .stopped(reason: "closed", code: 1000), 10,
            "failed: T reported `stopped closed 1001`, expected `stopped closed 1000`",
            reported((closed, 6))),
        row(
            .stopped(reason: "closed", code: 1000), 10,
            "failed: T reported `stopped closed`, expected `stopped closed 1000`",
            reported((.stopped(.closed(code: nil), detail: nil), 6))),
        row(
            .stopped(reason: "closed", code: nil), 10, "failed: T reported `stopped eof`, expected `stopped closed`",
            reported((ended, 6))),
        row(
            .stopped(reason: "eof", code: nil), 10, "failed: T reported `stopped closed 1001`, expected `stopped eof`",
            reported((closed, 6))),
        row(.nothing(for: .milliseconds(100)), 100, "satisfied at 100ms", reported((.ping([]), 5))),
    ]

    private static let started = [
        row(.started, 99, "pending until 100ms"),
        row(.started, 100, "missed, failed: T did not report started within 100ms"),
        row(.started, 500, "missed, failed: T did not report started within 100ms"),
        row(.started, 100, "pending until 130ms").standingStill(),
        row(.started, 130, "missed, failed: T did not report started within 100ms").standingStill(),
        // The `started` report arrived before the deadline, although it is evaluated after the deadline.
        row(.started, 500, "satisfied at 7ms") { $0.startedAt = .milliseconds(7) },
        row(.started, 8, "failed: T reported `stopped refused`, expected started") {
            $0.stopped = (.refused, nil, .milliseconds(7))
        },
        row(.accept, 10, "pending until 100ms"),
        row(.accept, 100, "missed, failed: T did not report accept within 100ms"),
        row(
            .accept, 10, "satisfied at 5ms, number 3",
            reported((.accepted(connection: 3), 5), (.accepted(connection: 4), 6))),
    ]

    private static let deliveries: [ExpectationRow] = [
        row(.line(value("a"), name: nil), 10, "pending until 100ms", reported((.sent(3), 5))),
        row(.line(value("a"), name: "x"), 10, "satisfied at 5ms, takes 1, x=a", reported((.line(bytes("a")), 5))),
        row(.line(value("a"), name: nil), 100, "missed, failed: T did not report line \"a\" within 100ms"),
        row(
            .line(value("a"), name: nil), 10, "failed: T delivered \"b\", expected line \"a\"",
            reported((.line(bytes("b")), 5))),
        row(
            .line(value("a"), name: nil), 10, "failed: T reported message \"a\", expected line \"a\"",
            reported((.message(bytes("a"), kind: nil), 5))),
        row(.line(.any, name: nil), 10, "failed: T reported `stopped eof`, expected a line", reported((ended, 5))),
        row(
            .message(value("a"), name: nil, kind: nil), 10, "satisfied at 5ms, takes 1",
            reported((.message(bytes("a"), kind: nil), 5))),
        // For these expectations, a reported line counts as a message.
        row(
            .message(value("a"), name: nil, kind: nil), 10, "satisfied at 5ms, takes 1",
            reported((.line(bytes("a")), 5))),
        row(.message(value("a"), name: nil, kind: nil), 10, "pending until 100ms"),
        row(
            .message(value("a"), name: nil, kind: nil), 10,
            "failed: T reported data \"a\", expected message \"a\"",
            reported((.data(bytes("a")), 5))),
        row(.leftover(value("half"), name: nil), 10, "satisfied at 5ms, takes 1", reported((half, 5), (ended, 6))),
        row(.leftover(value("half"), name: nil), 10, "pending until 100ms"),
        row(
            .leftover(value("half"), name: nil), 10,
            "failed: T reported `stopped eof`, expected leftover \"half\"", reported((ended, 6))),
        row(.discarded, 10, "satisfied at 5ms, takes 1", reported((.discarded, 5), (.line(bytes("a")), 6))),
        row(.discarded, 10, "pending until 100ms"),
        row(
            .discarded, 10, "failed: T reported line \"a\", expected discarded",
            reported((.line(bytes("a")), 5), (.discarded, 6))),
        row(
            .line(value("a"), name: nil), 10, "failed: T reported discarded, expected line \"a\"",
            reported((.discarded, 5))),
        row(.halfClosed, 10, "satisfied at 5ms, takes 1", reported((.halfClosed, 5))),
        row(.halfClosed, 10, "pending until 100ms", reported((.full, 5))),
        row(
            .halfClosed, 10, "failed: T reported line \"a\", expected half-closed",
            reported((.line(bytes("a")), 5), (.halfClosed, 6))),
        row(.halfClosed, 10, "failed: T reported `stopped eof`, expected half-closed", reported((ended, 5))),
        row(
            .line(value("a"), name: nil), 10, "failed: T reported half-closed, expected line \"a\"",
            reported((.halfClosed, 5))),
        // Messages that the subject delivered before it reported `full` don't affect `expect full`.
        row(.full, 10, "satisfied at 6ms, takes 1 of pressure", reported((.line(bytes("a")), 5), (.full, 6))),
        row(.full, 10, "pending until 100ms", reported((.line(bytes("a")), 5))),
        row(.full, 10, "failed: T reported `stopped reset`, expected full", reported((wasReset, 5))),
        row(.drained, 10, "pending until 100ms"),
        row(.drained, 10, "satisfied at 5ms, takes 1 of pressure", reported((.drained, 5))),
        row(.drained, 10, "failed: T reported full, expected drained", reported((.full, 5), (.drained, 6))),
        row(.data(value("ab"), name: nil), 10, "satisfied at 5ms, takes 1", reported((.data(bytes("ab")), 5))),
        row(.data(value("ab"), name: nil), 10, "pending until 100ms"),
        row(
            .data(value("ab"), name: nil), 10, "failed: T delivered \"a\", expected data \"ab\"",
            reported((.data(bytes("a")), 5))),
        row(.bytes(bytes("abc")), 10, "pending until 100ms", reported((.data(bytes("ab")), 5))),
        row(
            .bytes(bytes("abc")), 10, "satisfied at 6ms, takes 2, leaves 1 bytes",
            reported((.data(bytes("ab")), 5), (.data(bytes("cd")), 6))),
        row(
            .bytes(bytes("abc")), 10, "failed: T delivered \"abx\", expected \"abc\"",
            reported((.data(bytes("ab")), 5), (.data(bytes("x")), 6))),
        row(
            .bytes(bytes("abc")), 10, "failed: T reported leftover \"half\", expected data",
            reported((.data(bytes("ab")), 5), (half, 6))),
        row(
            .bytes(bytes("abc")), 10, "failed: T reported `stopped eof`, expected \"abc\"",
            reported((.data(bytes("ab")), 5), (ended, 6))),
        row(.bytes(bytes("abc")), 100, "missed, failed: T did not deliver the expected bytes within 100ms"),
    ]

    private static let sentAndRefused: [ExpectationRow] = [
        row(.sent(requested: 5), 10, "pending until 100ms", reported((.sent(3), 5))),
        row(.sent(requested: 5), 10, "satisfied at 6ms", reported((.sent(3), 5), (.sent(2), 6))),
        row(
            .sent(requested: 5), 10, "failed: T reported 6 bytes sent, more than the 5 that it was asked to send",
            reported((.sent(6), 5))),
        row(
            .sent(requested: 5), 100, "missed, failed: T reported only 3 of 5 bytes as sent within 100ms",
            reported((.sent(3), 5))),
        row(.sent(requested: 0), 10, "error: T has not been asked to send anything, so it can't report `sent`"),
        row(.error("stopped"), 10, "failed: T accepted the last op, expected the error stopped"),
        row(.error("stopped"), 10, "satisfied") { $0.refusal = ("stopped", SourceSpan(start: 0, end: 0)) },
        row(.error("stopped"), 10, "failed: T answered the last op with the error invalid, expected stopped") {
            $0.refusal = ("invalid", SourceSpan(start: 0, end: 0))
        },
    ]

    private static let stopped: [ExpectationRow] = [
        row(.stopped(reason: "eof", code: nil), 10, "pending until 100ms"),
        row(.stopped(reason: nil, code: nil), 10, "satisfied at 5ms", reported((ended, 5))),
        row(.stopped(reason: "eof", code: nil), 10, "satisfied at 5ms", reported((ended, 5))),
        row(
            .stopped(reason: "eof", code: nil), 10, "failed: T reported `stopped reset`, expected `stopped eof`",
            reported((wasReset, 5))),
        row(.stopped(reason: "eof", code: nil), 100, "missed, failed: T did not report stopped eof within 100ms"),
        row(
            .stopped(reason: nil, code: nil), 10, "failed: T reported line \"a\", expected stopped",
            reported((.line(bytes("a")), 5), (ended, 6))),
        // Before it stops for any reason other than `eof`, a transport may report a `leftover`, but doesn't have to.
        row(.stopped(reason: "reset", code: nil), 10, "satisfied at 6ms, takes 1", reported((half, 5), (wasReset, 6))),
        row(.stopped(reason: nil, code: nil), 10, "satisfied at 6ms, takes 1", reported((half, 5), (wasReset, 6))),
        row(.stopped(reason: nil, code: nil), 10, "pending until 100ms", reported((half, 5))),
        row(
            .stopped(reason: nil, code: nil), 10, "failed: T reported leftover \"half\", expected stopped",
            reported((half, 5), (ended, 6))),
        row(
            .stopped(reason: "eof", code: nil), 10,
            "failed: T reported leftover \"half\", expected stopped eof",
            reported((half, 5))),
    ]

    private static let quiet = ResolvedSubjectExpectation.nothing(for: .milliseconds(100))

    private static let silence: [ExpectationRow] = [
        row(quiet, 99, "pending until 100ms"),
        row(quiet, 100, "satisfied at 100ms"),
        row(quiet, 100, "pending until 130ms").standingStill(),
        row(quiet, 130, "satisfied at 100ms").standingStill(),
        row(quiet, 10, "failed: T reported line \"a\", expected silence for 100ms", reported((.line(bytes("a")), 5))),
        row(
            quiet, 200, "failed: T reported line \"a\", expected silence for 100ms", reported((.line(bytes("a")), 100))),
        row(quiet, 200, "satisfied at 100ms", reported((.line(bytes("a")), 101))),
        row(
            quiet, 130,
            "inconclusive: T reported line \"a\" 20ms after the expected silence of 100ms, but the harness itself stood still for "
                + "30ms in the meantime: the time of the event is unknown", reported((.line(bytes("a")), 120))
        ).standingStill(),
        // `started` and `sent` reports answer earlier requests, so they don't break the silence, however late they
        // arrive.
        row(quiet, 10, "pending until 100ms", reported((.sent(3), 5))),
        row(quiet, 100, "satisfied at 100ms", reported((.started, 4), (.sent(3), 5))),
        row(
            quiet, 10, "failed: T reported line \"a\", expected silence for 100ms",
            reported((.sent(3), 4), (.line(bytes("a")), 5))),
        row(
            quiet, 10, "failed: T reported accept, expected silence for 100ms", reported((.accepted(connection: 3), 5))),
        row(quiet, 10, "failed: T reported stopped eof, expected silence for 100ms", reported((ended, 5))),
        row(quiet, 10, "pending until 100ms") {
            reported((ended, 5))(&$0)
            $0.stopIsConsumed = true
        },
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }

    /// The arguments are the reason why a connection stopped, an expectation, and whether the expected event may have
    /// been lost because of the stop.
    private static let losses: [(StopReason, ResolvedSubjectExpectation, Bool)] = [
        (.reset, .line(value("a"), name: nil), true), (.brokenPipe, .message(.any, name: nil, kind: nil), true),
        (.reset, .data(value("a"), name: nil), true), (.eof, .line(value("a"), name: nil), false),
        (.timeout, .line(value("a"), name: nil), false), (.reset, .full, false),
    ]

    @Test(arguments: losses.indices)
    func messageMayBeLostOnlyByAReset(index: Int) throws {
        let (reason, wanted, isLost) = Self.losses[index]
        var reports = SubjectReports()
        reports.wasStarted = true
        Self.reported((.stopped(reason, detail: nil), 5))(&reports)
        var progress = SubjectProgress()
        let window = TimeWindow(start: .milliseconds(0), deadline: .milliseconds(100), now: .milliseconds(10))
        let outcome = SubjectEvaluation(name: "T", reports: reports, framing: .crlf, window: window)
            .evaluate(wanted, &progress)
        guard case .impossible(let why) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(why.finding.hints.contains { $0.contains("before the reset") } == isLost)
    }

    @Test func laterEvaluationContinuesTheEarlierOne() {
        var reports = SubjectReports()
        reports.pending = [(.data(Self.bytes("a")), .milliseconds(1))]
        var progress = SubjectProgress()
        func look(_ reports: SubjectReports) -> String {
            let window = TimeWindow(start: .milliseconds(0), deadline: .milliseconds(100), now: .milliseconds(10))
            let evaluation = SubjectEvaluation(name: "T", reports: reports, framing: .none, window: window)
            return ExpectationRow.text(evaluation.evaluate(.bytes(Self.bytes("abc")), &progress)) {
                ", takes \($0.deliveries)"
            }
        }
        #expect(look(reports) == "pending until 100ms")
        reports.pending.append((.data(Self.bytes("bc")), .milliseconds(2)))
        #expect(look(reports) == "satisfied at 2ms, takes 2")
        reports.pending = []
        #expect(look(reports) == "pending until 100ms")
    }
}
