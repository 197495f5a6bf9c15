import ProbeBase
import ProbeRegex
import ProbeScenario
import Testing

@testable import ProbeEngine
@testable import ProbeSystem

/// Tests the outcomes of `expect` steps for a program.
struct ProcessEvaluationTests {
    private static func row(
        _ wanted: ResolvedProcessExpectation, _ now: Int, _ outcome: String,
        _ prepare: @escaping @Sendable (inout ProcessView) -> Void = { _ in }
    ) -> ExpectationRow {
        ExpectationRow(
            kind: ExpectationKind(wanted).rawValue, now: now, outcome: outcome,
            evaluate: { window in
                var view = ProcessView(name: "P")
                prepare(&view)
                var progress = ProcessProgress()
                let evaluation = ProcessEvaluation(view: view, window: window)
                return ExpectationRow.text(evaluation.evaluate(wanted, &progress)) { match in
                    switch match {
                    case .nothing: ""
                    case .output(let found): ", line \(found.line) to \(found.end)"
                    case .bindings(let bindings): ExpectationRow.text(bindings)
                    }
                }
            })
    }

    /// Appends pieces of output, each with the time at which it was read, in milliseconds.
    private static func printed(_ pieces: (String, Int)...) -> @Sendable (inout ProcessView) -> Void {
        { view in
            for (text, time) in pieces {
                view.outputLog.append(
                    ArraySlice(text.utf8), from: .output, at: .milliseconds(time), keeping: { _, _ in [] })
            }
        }
    }

    private static func ended(_ exit: ChildProcess.Exit) -> @Sendable (inout ProcessView) -> Void {
        { view in
            view.exit = exit
            view.exitedAt = .milliseconds(7)
        }
    }

    private static func regex(_ source: String) -> ByteRegex {
        // An invalid regex is a mistake in this file, so it stops the tests at once.
        try! ByteRegex(source)
    }

    static let rows: [ExpectationRow] = listening + output + silence + exits + resources

    private static let any = ResolvedProcessExpectation.listening(port: nil)

    private static let listening: [ExpectationRow] = [
        row(any, 10, "pending until 11ms") { $0.observation = .listening(false, at: .milliseconds(10)) },
        // The last check for a listener takes place at the deadline.
        row(any, 99, "pending until 100ms") { $0.observation = .listening(false, at: .milliseconds(99)) }
            .until(100),
        row(any, 10, "satisfied at 10ms") { $0.observation = .listening(true, at: .milliseconds(10)) },
        row(any, 100, "missed, failed: P did not listen within 100ms") {
            $0.observation = .listening(false, at: .milliseconds(100))
        },
        row(.listening(port: 25), 100, "missed, failed: P did not listen on port 25 within 100ms") {
            $0.observation = .listening(false, at: .milliseconds(100))
        },
        row(any, 100, "pending until 101ms") { $0.observation = .listening(false, at: .milliseconds(100)) }
            .standingStill(),
        row(any, 10, "failed: P exited with status 1 before it listened", ended(.status(1))),
    ]

    private static let wanted = ResolvedProcessExpectation.output(regex("b+"))

    private static let output: [ExpectationRow] = [
        row(wanted, 99, "pending until 100ms", printed(("a\n", 5))),
        row(wanted, 10, "satisfied at 6ms, line 1 to 2", printed(("a\nab\n", 6))),
        // Further bytes of an unfinished line may still arrive, so the line is searched only when it ends, at the
        // deadline, or when no more output can follow.
        row(wanted, 99, "pending until 100ms", printed(("a\nab", 6))),
        row(wanted, 100, "satisfied at 6ms, line 1 to 2", printed(("a\nab", 6))).until(100),
        row(wanted, 10, "satisfied at 8ms, line 0 to 3", printed(("ab", 6), ("b\n", 8))),
        row(wanted, 100, "pending until 130ms", printed(("a\nab", 6))).standingStill(),
        row(.output(regex("^ab$")), 10, "pending until 100ms", printed(("ab", 6), ("c\n", 8))),
        // A line end that arrives after the deadline does not delay the match.
        row(wanted, 110, "satisfied at 6ms, line 0 to 2", printed(("ab", 6), ("\n", 105))),
        row(wanted, 10, "satisfied at 9ms, line 0 to 2", printed(("ab", 6), ("\n", 9))),
        row(wanted, 100, "missed, failed: P did not print /b+/ within 100ms", printed(("a\n", 5))),
        row(wanted, 100, "pending until 130ms").standingStill(),
        row(wanted, 10, "failed: P exited with status 0 without printing /b+/", ended(.status(0))),
        // The program has exited, but its child processes may still print output.
        row(wanted, 99, "pending until 100ms") {
            ended(.status(0))(&$0)
            $0.isOutputOpen = true
        },
        row(wanted, 131, "failed: P exited with status 0 without printing /b+/") {
            ended(.status(0))(&$0)
            $0.isOutputOpen = true
        },
        row(wanted, 10, "satisfied at 6ms, line 1 to 2") {
            ended(.status(0))(&$0)
            printed(("a\nab", 6))(&$0)
        },
        // Only the output after the text consumed by the last `expect output` is searched.
        row(wanted, 10, "pending until 100ms") {
            printed(("ab\n", 6))(&$0)
            $0.cursor = OutputCursor(line: 0, offset: 2)
        },
        row(.output(regex("(a|b)*c")), 100, inParts("(a|b)*c")) {
            printed((String(repeating: "x", count: 1 << 20) + "yy\n", 6))(&$0)
        },
    ]

    private static func inParts(_ source: String) -> String {
        "inconclusive: it is unknown whether P printed /\(source)/: a line of more than 1 MiB was searched in parts"
    }

    private static let quiet = ResolvedProcessExpectation.noOutput(regex("b+"), for: .milliseconds(100))

    private static let silence: [ExpectationRow] = [
        row(quiet, 99, "pending until 100ms", printed(("a\n", 5))),
        row(quiet, 100, "satisfied at 100ms", printed(("a\n", 5))),
        row(quiet, 100, "pending until 130ms").standingStill(),
        row(quiet, 10, "failed: P printed a line that matches /b+/", printed(("ab\n", 5))),
        row(quiet, 200, "failed: P printed a line that matches /b+/", printed(("ab\n", 100))),
        row(quiet, 200, "satisfied at 100ms", printed(("ab\n", 101))),
        row(quiet, 99, "pending until 100ms", printed(("ab", 5))),
        row(quiet, 100, "failed: P printed a line that matches /b+/", printed(("ab", 5))).until(100),
        row(
            .noOutput(regex("^err$"), for: .milliseconds(100)), 100, "satisfied at 100ms",
            printed(("err", 5), ("-free\n", 9))),
        row(.noOutput(regex("^err$"), for: .milliseconds(100)), 10, "failed: P printed a line that matches /^err$/") {
            ended(.status(0))(&$0)
            printed(("err", 5))(&$0)
        },
        row(quiet, 0, "satisfied at 0us").until(0),
        row(.noOutput(regex("(a|b)*c"), for: .milliseconds(100)), 100, inParts("(a|b)*c")) {
            printed((String(repeating: "x", count: 1 << 20) + "yy\n", 6))(&$0)
        },
    ]

    private static let exits: [ExpectationRow] = [
        row(.exit(.any), 99, "pending until 100ms"),
        row(.exit(.any), 10, "satisfied at 7ms", ended(.status(3))),
        row(.exit(.any), 100, "missed, failed: P did not exit within 100ms"),
        row(.exit(.any), 100, "pending until 130ms").standingStill(),
        row(.exit(.status(3)), 10, "satisfied at 7ms", ended(.status(3))),
        row(.exit(.status(3)), 10, "failed: P exited with status 1, expected status 3", ended(.status(1))),
        row(
            .exit(.signal(ProcessSignal(name: "KILL", number: 9))), 10,
            "failed: P exited with status 1, expected signal KILL", ended(.status(1))),
        row(.exit(.signal(ProcessSignal(name: "KILL", number: 9))), 10, "satisfied at 7ms", ended(.signal(9))),
    ]

    private static func bound(
        _ resource: ResourceExpectation.Resource, _ comparison: Comparison, _ limit: Int
    ) -> ResolvedProcessExpectation {
        .resource(ResolvedResourceExpectation(resource: resource, wanted: .amount(comparison, limit)))
    }

    private static func named(_ resource: ResourceExpectation.Resource) -> ResolvedProcessExpectation {
        .resource(ResolvedResourceExpectation(resource: resource, wanted: .any(name: "n")))
    }

    /// The program's resource usage, measured at 10 ms unless a row specifies another time.
    private static func uses(
        _ amount: Int, at moment: Int = 10, over: Duration = .zero
    ) -> @Sendable (inout ProcessView) -> Void {
        {
            $0.observation = .measured(ResourceMeasure(amount: amount, at: .milliseconds(moment), over: over))
        }
    }

    private static let atMost100ms = ResolvedProcessExpectation.resource(
        ResolvedResourceExpectation(resource: .cpu, wanted: .time(.lessOrEqual, .milliseconds(100))))

    private static let resources: [ExpectationRow] = [
        row(bound(.memory, .less, 10), 10, "satisfied at 10ms", uses(9)),
        row(bound(.memory, .less, 10), 10, "pending until 11ms", uses(10)),
        row(
            bound(.memory, .less, 10), 100,
            "missed, failed: P uses 10 bytes of memory, expected less than 10 within 100ms",
            uses(10, at: 100)),
        row(bound(.descriptors, .lessOrEqual, 10), 10, "satisfied at 10ms", uses(10)),
        // The last measurement takes place at the deadline.
        row(bound(.descriptors, .lessOrEqual, 10), 99, "pending until 100ms", uses(11, at: 99)),
        row(
            bound(.descriptors, .lessOrEqual, 10), 100,
            "missed, failed: P has 11 descriptors open, expected at most 10 within 100ms", uses(11, at: 100)),
        row(bound(.descriptors, .lessOrEqual, 10), 100, "pending until 101ms", uses(11, at: 100)).standingStill(),
        row(
            bound(.threads, .equal, 2), 100, "missed, failed: P has 1 thread, expected 2 within 100ms",
            uses(1, at: 100)),
        // For these expectations, a single measurement decides the outcome.
        row(named(.descriptors), 10, "satisfied, n=7", uses(7)),
        row(atMost100ms, 10, "satisfied", uses(100_000_000)),
        row(
            atMost100ms, 10, "failed: P has used 480ms of processor time within 503ms, expected at most 100ms",
            uses(480_200_000, over: .microseconds(502_700))),
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }

    /// However a line is split, and whenever the output is evaluated, a variable is bound to the complete value, never
    /// to a part of it.
    @Test func everySplitOfALineBindsTheSame() {
        let text = Array("port 8080\n".utf8)
        for split in 1..<text.count {
            var view = ProcessView(name: "P")
            var progress = ProcessProgress()
            func look(_ piece: ArraySlice<UInt8>, _ now: Int) -> String {
                view.outputLog.append(piece, from: .output, at: .milliseconds(now), keeping: { _, _ in [] })
                let window = TimeWindow(start: .milliseconds(0), deadline: .milliseconds(100), now: .milliseconds(now))
                let wanted = ResolvedProcessExpectation.output(Self.regex("port ([0-9]+)"))
                return ExpectationRow.text(ProcessEvaluation(view: view, window: window).evaluate(wanted, &progress)) {
                    if case .output(let found) = $0 { " to \(found.end)" } else { "" }
                }
            }
            #expect(look(text[..<split], 10) == "pending until 100ms")
            #expect(look(text[split...], 20) == "satisfied at 20ms to 9")
        }
    }

    /// A line in one stream may begin before a match in the other stream and end after the match. Such a line is still
    /// searched.
    @Test func lineThatEndsAfterAMatchIsStillSearched() throws {
        var log = OutputLog()
        func print(_ text: String, _ stream: ChildProcess.Stream, _ time: Int) {
            log.append(ArraySlice(text.utf8), from: stream, at: .milliseconds(time), keeping: { _, _ in [] })
        }
        print("b1", .output, 5)
        print("b2\n", .error, 6)
        func next(_ cursor: OutputCursor) -> (line: Int, cursor: OutputCursor)? {
            OutputSearch.next(Self.wantedRegex, in: log, from: cursor, includesOpen: false).map {
                ($0.line, OutputSearch.cursor(after: $0, in: log, was: cursor))
            }
        }
        let early = try #require(next(OutputCursor()))
        #expect(early.line == 1 && next(early.cursor) == nil)
        print("\n", .output, 7)
        #expect(next(early.cursor)?.line == 0)
        // The matches are found in the same order if the complete log is searched at once.
        let late = try #require(next(OutputCursor()))
        #expect(late.line == 1 && next(late.cursor)?.line == 0)
    }

    private static let wantedRegex = regex("b.")

    /// A variable is bound to the processor time in the smallest unit, microseconds.
    @Test func cpuTimeIsBoundInTheSmallestUnit() {
        let measure = ResourceMeasure(amount: 1_234_567, at: .milliseconds(10))
        let window = TimeWindow(start: .milliseconds(0), deadline: .milliseconds(100), now: .milliseconds(10))
        var polling = PollingProgress()
        let wanted = ResolvedResourceExpectation(resource: .cpu, wanted: .any(name: "n"))
        let outcome = ResourceEvaluation(name: "P", measure: measure, window: window).evaluate(wanted, &polling)
        guard case .satisfied(let bindings, nil) = outcome, case .integer(1234)? = bindings.first?.1 else {
            Issue.record("\(outcome)")
            return
        }
        #expect(bindings.map(\.0) == ["n"])
    }

    /// If the thread was interrupted while reading the kernel's table, it may have read the table after the
    /// interruption. The measurement's time is then the end of the reading.
    @Test func interruptedMeasurementCountsAtItsEnd() {
        func moment(took: Duration, own: Duration) -> MonotonicTime {
            let begin = MonotonicTime(nanoseconds: 1_000_000)
            return PollingProgress.moment(of: begin, begin + took, own: own)
        }
        let begin = MonotonicTime(nanoseconds: 1_000_000)
        #expect(moment(took: .milliseconds(3), own: .milliseconds(3)) == begin)
        #expect(moment(took: .milliseconds(90), own: .zero) == begin)
        #expect(moment(took: .seconds(2), own: .seconds(2)) == begin, "the measurement itself took long")
        #expect(
            moment(took: .seconds(2), own: .milliseconds(5)) == begin + .seconds(2), "the measurement was interrupted")
    }
}
