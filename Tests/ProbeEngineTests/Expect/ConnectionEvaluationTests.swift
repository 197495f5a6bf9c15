import ProbeBase
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `expect` steps that wait for received bytes.
struct ConnectionEvaluationTests {
    private static func row(
        _ wanted: ConnectionExpectation<Resolved>, _ now: Int, _ outcome: String,
        _ prepare: @escaping @Sendable (inout ConnectionView) -> Void = { _ in }
    ) -> ExpectationRow {
        ExpectationRow(
            kind: wanted.spelling, now: now, outcome: outcome,
            evaluate: { window in
                var view = ConnectionView(name: "C")
                prepare(&view)
                var progress = InputProgress()
                return text(ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress))
            })
    }

    private static func text(_ outcome: Outcome<ConnectionMatch>) -> String {
        ExpectationRow.text(outcome) { match in
            (match.bytes > 0 ? ", takes \(match.bytes)" : "")
                + (match.urgentBytes > 0 ? ", takes \(match.urgentBytes) urgent" : "")
                + ExpectationRow.text(match.bindings)
        }
    }

    /// Receives pieces of bytes, each with the time at which it was read, in milliseconds.
    private static func got(_ pieces: (String, Int)...) -> @Sendable (inout ConnectionView) -> Void {
        { view in
            for (text, time) in pieces { view.receiveBuffer.append(bytes(text), at: .milliseconds(time)) }
        }
    }

    private static func ended(_ end: Connection.ReadEnd, _ text: String = "")
        -> @Sendable (inout ConnectionView) -> Void
    {
        { view in
            view.receiveBuffer.append(bytes(text), at: .milliseconds(3))
            view.end = end
        }
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static func value(_ text: String) -> ExpectedText { .value(bytes(text)) }
    private static let fin = Connection.ReadEnd.eof(.milliseconds(7))
    private static let rst = Connection.ReadEnd.reset(.milliseconds(7))

    static let rows: [ExpectationRow] = raw + lines + ends + urgent + silence + beginningsOfAnsweredLines

    /// Receives the beginning of a line that a `whenever` may consume once the line is complete.
    private static func begun(_ text: String) -> @Sendable (inout ConnectionView) -> Void {
        { view in
            view.answersLines = true
            view.receiveBuffer.append(bytes(text), at: .milliseconds(5))
        }
    }

    private static let beginningsOfAnsweredLines: [ExpectationRow] = [
        row(.line(value("end"), as: nil), 10, "pending until 100ms", begun("a")),
        row(
            .line(value("end"), as: nil), 100, "missed, failed: C received \"a\", expected line \"end\"", begun("a")),
        row(
            .line(value("end"), as: nil), 10, "failed: C received \"a\", expected line \"end\"", begun("a\r\nb")),
        row(.eof, 10, "pending until 100ms", begun("pi")),
        row(.eof, 100, "missed, failed: C received data, expected eof (FIN)", begun("pi")),
        row(.nothing(for: .milliseconds(100)), 10, "pending until 100ms", begun("pi")),
        row(
            .nothing(for: .milliseconds(100)), 100,
            "missed, failed: C received data 5ms after the step began, expected silence for 100ms",
            begun("pi")),
    ]

    private static let raw: [ExpectationRow] = [
        row(.bytes(bytes("abc")), 99, "pending until 100ms", got(("ab", 5))),
        row(.bytes(bytes("abc")), 100, "missed, failed: C did not receive \"abc\" within 100ms", got(("ab", 5))),
        row(.bytes(bytes("abc")), 101, "missed, failed: C did not receive \"abc\" within 100ms"),
        row(.bytes(bytes("abc")), 100, "pending until 130ms").standingStill(),
        row(.bytes(bytes("abc")), 130, "missed, failed: C did not receive \"abc\" within 100ms").standingStill(),
        row(.bytes(bytes("abc")), 10, "satisfied at 6ms, takes 3", got(("ab", 5), ("cd", 6))),
        // The bytes arrived after the deadline. The evaluation accepts the bytes; the step then judges the time of
        // their arrival.
        row(.bytes(bytes("abc")), 200, "satisfied at 150ms, takes 3", got(("abc", 150))),
        row(
            .bytes(bytes("abc")), 10,
            "failed: C received \"axc\", expected \"abc\"", got(("axc", 5))),
        row(
            .bytes(bytes("abc")), 10, "failed: C received unexpected bytes; first difference at byte 2",
            got(("a" + String(repeating: "x", count: 40), 5))),
        row(
            .bytes(bytes("abc")), 10,
            "failed: C's connection was closed by the peer (FIN) while C expected \"abc\", after 2 bytes of incomplete input",
            ended(fin, "ab")),
        row(.bytes(bytes("abc")), 10, "error: C has 64 MiB of unread bytes, the most that the harness keeps") {
            $0.hasOverflowed = true
        },
        row(.count(3, as: .of("x")), 10, "pending until 100ms", got(("ab", 5))),
        row(.count(3, as: .of("x")), 10, "satisfied at 6ms, takes 3, x=abc", got(("ab", 5), ("cd", 6))),
        row(.count(0, as: nil), 10, "satisfied"),
        row(.count(3, as: nil), 100, "missed, failed: C did not receive 3 bytes within 100ms"),
        row(
            .count(3, as: nil), 10, "failed: C's connection was closed by the peer (FIN) while C expected 3 bytes",
            ended(fin)),
        row(.until(delimiter: [0], as: .of("x")), 10, "pending until 100ms", got(("ab", 5))),
        row(.until(delimiter: [0], as: .of("x")), 10, "satisfied at 6ms, takes 3, x=ab", got(("ab", 5), ("\0d", 6))),
        row(
            .until(delimiter: [0], as: nil), 100, "missed, failed: C did not receive bytes until \"\\0\" within 100ms"),
        row(.anyBytes(as: .of("x")), 10, "pending until 100ms"),
        row(.anyBytes(as: .of("x")), 10, "satisfied at 5ms, takes 4, x=abcd", got(("ab", 5), ("cd", 6))),
        row(
            .anyBytes(as: nil), 10, "failed: C's connection was reset (RST) while C expected any bytes",
            ended(rst)),
        row(.integer(.u16, as: .of("n")), 10, "pending until 100ms", got(("a", 5))),
        row(.integer(.u16, as: .of("n")), 10, "satisfied at 6ms, takes 2, n=24930", got(("a", 5), ("b", 6))),
        row(.integer(.u16le, as: .of("n")), 10, "satisfied at 5ms, takes 2, n=25185", got(("ab", 5))),
        row(.integer(.u16, as: nil), 100, "missed, failed: C did not receive a u16 within 100ms"),
        row(.integer(.varint, as: nil), 10, "failed: C received a varint of more than 64 bits") {
            $0.receiveBuffer.append([UInt8](repeating: 0xff, count: 10), at: .milliseconds(5))
        },
    ]

    private static let lines: [ExpectationRow] = [
        row(.line(value("a"), as: .of("x")), 10, "pending until 100ms", got(("a\r", 5))),
        row(.line(value("a"), as: .of("x")), 10, "satisfied at 6ms, takes 3, x=a", got(("a\r", 5), ("\nb", 6))),
        row(.line(value("a"), as: nil), 100, "missed, failed: C did not receive line \"a\" within 100ms"),
        row(.line(value("a"), as: nil), 10, "failed: C received \"b\", expected line \"a\"", got(("b\r\n", 5))),
        row(
            .line(value("a"), as: nil), 10, "failed: C received unexpected bytes, expected line \"a\"",
            got((String(repeating: "x", count: 41), 5))),
        // The line has not ended, but can no longer become the expected line.
        row(.line(value("a"), as: nil), 10, "failed: C received \"ab\", expected line \"a\"", got(("ab", 5))),
        row(
            .line(.any, as: nil), 10, "failed: C's connection was closed by the peer (FIN) while C expected a line",
            ended(fin)),
        row(.message(value("a"), as: nil), 10, "satisfied at 5ms, takes 2") {
            $0.framing = .u8
            $0.receiveBuffer.append([1, 97, 98], at: .milliseconds(5))
        },
        row(.message(value("a"), as: nil), 10, "pending until 100ms") {
            $0.framing = .u8
            $0.receiveBuffer.append([1], at: .milliseconds(5))
        },
        row(.message(value("a"), as: nil), 10, "failed: C received \"ab\", expected message \"a\"") {
            $0.framing = .u8
            $0.receiveBuffer.append([2, 97, 98], at: .milliseconds(5))
        },
        row(.untilLine(value("b"), as: .of("x")), 10, "pending until 100ms", got(("a\r\n", 5))),
        row(
            .untilLine(value("b"), as: .of("x")), 10, "satisfied at 6ms, takes 6, x=a\\r\\nb\\r\\n",
            got(("a\r\n", 5), ("b\r\nc", 6))),
        row(.untilLine(value("b"), as: nil), 100, "missed, failed: C did not receive the line \"b\" within 100ms"),
        row(
            .linesInAnyOrder([(false, value("a")), (false, value("b"))]), 10, "pending until 100ms",
            got(("b\r\n", 5))),
        row(
            .linesInAnyOrder([(false, value("a")), (false, value("b"))]), 10, "satisfied at 6ms, takes 6",
            got(("b\r\n", 5), ("a\r\n", 6))),
        row(
            .linesInAnyOrder([(false, value("a")), (true, value("o"))]), 10, "satisfied at 5ms, takes 6",
            got(("a\r\n", 5), ("o\r\n", 6))),
        row(
            .linesInAnyOrder([(false, value("a")), (false, value("b"))]), 10,
            "failed: C received a line that is not one of those still expected", got(("c\r\n", 5))),
    ]

    private static let ends: [ExpectationRow] = [
        row(.eof, 10, "pending until 100ms"),
        row(.eof, 100, "missed, failed: C did not receive eof (FIN) within 100ms"),
        row(.eof, 10, "satisfied at 7ms", ended(fin)),
        row(.eof, 10, "failed: C's connection was reset (RST) while C expected eof (FIN)", ended(rst)),
        row(.eof, 10, "failed: C received data, expected eof (FIN)", got(("a", 5))),
        // After `ignore rest`, unread bytes are dropped when the end of the connection arrives.
        row(.eof, 10, "pending until 100ms") {
            got(("a", 5))(&$0)
            $0.ignoresRest = true
        },
        row(.eof, 10, "satisfied at 7ms, takes 1") {
            ended(fin, "a")(&$0)
            $0.ignoresRest = true
        },
        row(.reset, 10, "pending until 100ms"),
        row(.reset, 10, "satisfied at 7ms", ended(rst)),
        row(.reset, 10, "failed: C's connection was closed by the peer (FIN) while C expected reset (RST)", ended(fin)),
        row(.closed, 10, "pending until 100ms"),
        row(.closed, 10, "satisfied at 7ms", ended(rst)),
        row(.closed, 10, "satisfied at 7ms", ended(fin)),
        row(
            .closed, 100, "missed, failed: C's connection did not end within 100ms"),
    ]

    private static let urgent: [ExpectationRow] = [
        row(.urgent(bytes("!")), 10, "pending until 100ms", got(("!", 5))),
        row(.urgent(bytes("!")), 10, "satisfied at 5ms, takes 1 urgent") {
            $0.urgent.append(bytes("!"), at: .milliseconds(5))
        },
        row(.urgent(bytes("!")), 10, "failed: C received unexpected urgent bytes") {
            $0.urgent.append(bytes("?"), at: .milliseconds(5))
        },
        row(.urgent(bytes("!")), 100, "missed, failed: C received no urgent byte within 100ms"),
        row(.urgent(bytes("!")), 100, "pending until 130ms").standingStill(),
    ]

    private static let quiet = ConnectionExpectation<Resolved>.nothing(for: .milliseconds(100))

    private static let silence: [ExpectationRow] = [
        row(quiet, 99, "pending until 100ms"),
        row(quiet, 100, "satisfied at 100ms"),
        row(quiet, 100, "pending until 130ms").standingStill(),
        row(quiet, 130, "satisfied at 100ms").standingStill(),
        row(
            quiet, 10, "failed: C received data 5ms after the step began, expected silence for 100ms",
            got(("a", 5))),
        row(
            quiet, 100, "failed: C received data 100ms after the step began, expected silence for 100ms",
            got(("a", 100))),
        row(quiet, 101, "satisfied at 100ms", got(("a", 101))),
        row(
            quiet, 130,
            "inconclusive: C received something 10ms after the expected silence of 100ms, but the harness itself stood still for 30ms "
                + "in the meantime: the time of the event is unknown", got(("a", 110))
        ).standingStill(),
        row(quiet, 10, "failed: C received data 5ms after the step began, expected silence for 100ms") {
            $0.urgent.append([33], at: .milliseconds(5))
        },
        row(
            quiet, 10, "failed: C's connection was closed by the peer (FIN) while C expected silence for 100ms",
            ended(fin)),
        row(quiet, 10, "failed: C's connection was reset (RST) while C expected silence for 100ms", ended(rst)),
        row(quiet, 10, "pending until 100ms") {
            ended(fin)(&$0)
            $0.endIsUnconsumed = false
        },
        // The kernel reports no events on a connection that is not being read, so the connection's state is queried at
        // the deadline.
        row(quiet, 10, "pending until 100ms") { $0.inKernel = .init(unread: 3, endIsPending: false) },
        row(quiet, 100, "failed: C left 3 bytes unread in the kernel's buffer, expected silence for 100ms") {
            $0.inKernel = .init(unread: 3, endIsPending: false)
        },
        row(
            quiet, 100,
            "failed: C's connection was closed or reset by the peer while C expected silence for 100ms"
        ) {
            $0.inKernel = .init(unread: 0, endIsPending: true)
        },
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }

    /// Although the search takes several evaluations, all bytes that arrived by the deadline are searched.
    @Test func deadlineWaitsForAnUnfinishedSearch() {
        var view = ConnectionView(name: "C")
        view.framing = .lf
        view.receiveBuffer.append([UInt8](repeating: 10, count: 1 << 16), at: .milliseconds(5))
        var progress = InputProgress()
        let window = TimeWindow(start: .milliseconds(0), deadline: .milliseconds(100), now: .milliseconds(100))
        var outcomes: [String] = []
        while outcomes.last?.hasPrefix("missed") != true, outcomes.count < 1000 {
            let evaluation = ConnectionEvaluation(view: view, window: window)
            outcomes.append(
                Self.text(evaluation.evaluate(.untilLine(Self.value("a"), as: nil), &progress)))
        }
        #expect(outcomes.count > 2)
        #expect(outcomes.dropLast().allSatisfy { $0 == "pending until 100ms" })
    }
}
