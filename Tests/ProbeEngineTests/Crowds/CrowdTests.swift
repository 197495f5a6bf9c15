import Glibc
import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import Testing

@testable import ProbeEngine

/// Tests the results of cases with a crowd. The workers are programs whose reports the test specifies.
struct CrowdTests {
    /// Returns a worker program that always gives the same answer, whatever its members are ordered to do.
    static func worker(
        _ snapshot: CrowdSnapshot, ready: String = "echo '{\"ready\":true,\"port\":0}'"
    ) -> [String] {
        let answer = String(decoding: snapshot.json.encoded(.ascii), as: UTF8.self)
        return [
            "/bin/sh", "-c",
            """
            read order; \(ready); while read line; do case "$line" in
            *snapshot*) printf '%s\\n' '\(answer)' ;;
            *stop*) echo '{"stopped":true}' ;;
            esac; done
            """,
        ]
    }

    /// Returns a worker program that answers the first question with the first snapshot, and all later questions with
    /// the last snapshot.
    static func worker(_ snapshots: [CrowdSnapshot]) -> [String] {
        let answers = snapshots.map { String(decoding: $0.json.encoded(.ascii), as: UTF8.self) }
        return [
            "/bin/sh", "-c",
            """
            read order; echo '{"ready":true,"port":0}'; answer='\(answers[0])'; while read line; do case "$line" in
            *snapshot*) printf '%s\\n' "$answer"; answer='\(answers[answers.count - 1])' ;;
            *stop*) echo '{"stopped":true}' ;;
            esac; done
            """,
        ]
    }

    static func snapshot(
        connected: Int = 5, alive: Int = 5, failed: Int = 0, reason: String = "refused", waits: [Int64] = []
    ) -> CrowdSnapshot {
        var snapshot = CrowdSnapshot()
        (snapshot.started, snapshot.connected, snapshot.alive, snapshot.failed) = (5, connected, alive, failed)
        if failed > 0 { snapshot.failures = [.init(instruction: 0, reason: reason, count: failed)] }
        if !waits.isEmpty {
            var record = LatencyRecord()
            for wait in waits { record.add(nanoseconds: wait, count: 1) }
            snapshot.latencies[.connect] = record
        }
        return snapshot
    }

    /// Runs a script in which `W` has five members that connect to a server of the script.
    ///
    /// - Parameter timeout: the timeout of the case.
    static func run(_ steps: String, _ program: [String]?, timeout: String = "10s") async throws -> CaseResult {
        let script = "scenario \"crowd\"\ntimeout \(timeout)\nserver S\ncrowd W = 5 clients -> S\n\(steps)"
        let results = try await Stage.run(script, usesCapture: false, crowdProgram: program)
        return try #require(results.first)
    }

    static func texts(of result: CaseResult) -> String {
        result.findings.map(Scene.texts).joined(separator: "\n")
    }

    @Test func missingCrowdProgramIsAnError() async throws {
        let result = try await Self.run("W start { connect }", nil)
        #expect(result.verdict == .error)
        #expect(Self.texts(of: result).contains("crowds need the program `tcpprobe-crowd`, which was not found"))
    }

    @Test(arguments: [
        "connected 5", "connected 1", "alive 5", "alive >= 2", "failed 0", "failed < 1", "done == 0",
        "latency p50 <= 2ms of connect", "latency max > 2ms of connect",
    ])
    func satisfiedExpectationsPass(_ wanted: String) async throws {
        let program = Self.worker(Self.snapshot(waits: [1_000_000, 2_000_000, 3_000_000]))
        let result = try await Self.run("W start at 100/s { connect }\nW expect \(wanted)\nW stop", program)
        #expect(result.verdict == .passed, "\(Self.texts(of: result))")
    }

    @Test(arguments: [
        ("connected 5", "connected 4 of 5"), ("alive 5", "alive 4 of 5"), ("alive == 5", "alive 4 of 5"),
        ("failed 0", "failed 1 of 5"), ("done 1", "done 0 of 5"),
        ("latency p50 <= 1ms of connect", "the p50 of 2 waits is 2 ms"),
    ])
    func unsatisfiedExpectationsReportTheState(_ wanted: String, _ found: String) async throws {
        let program = Self.worker(
            Self.snapshot(connected: 4, alive: 4, failed: 1, waits: [2_000_000, 3_000_000]))
        let result = try await Self.run("W start { connect }\nW expect \(wanted) within 60ms", program)
        let texts = Self.texts(of: result)
        #expect(result.verdict == .failed)
        #expect(texts.contains(found), "\(texts)")
        #expect(texts.contains("1 member failed at line 5 (connect): refused"), "\(texts)")
    }

    /// Failed members remain failed, so a step that they can no longer satisfy fails without waiting for its deadline.
    @Test(arguments: ["failed 0", "failed <= 1", "failed < 2", "done 4", "done == 5", "done > 3"])
    func impossibleExpectationsFailAtOnce(_ wanted: String) async throws {
        let program = Self.worker(Self.snapshot(failed: 2))
        let result = try await Self.run("W start { connect }\nW expect \(wanted) within 60s", program)
        #expect(result.verdict == .failed)
        #expect(Self.texts(of: result).contains("can no longer satisfy"), "\(Self.texts(of: result))")
        #expect(result.duration < 30_000_000_000)
    }

    @Test func crowdsPerCaseAreLimited() async throws {
        for count in [129, 2] {
            let crowds = (0..<count).map { "crowd W\($0) = 5 clients -> 127.0.0.1:1" }
            let starts = (0..<count).map { "W\($0) start { connect }\nW\($0) expect alive 5" }
            let script = (["scenario \"crowds\""] + crowds + starts).joined(separator: "\n")
            let results = try await Stage.run(
                script, usesCapture: false, crowdProgram: Self.worker(Self.snapshot()))
            let result = try #require(results.first)
            #expect(result.verdict == (count > 2 ? .error : .passed))
            #expect(Self.texts(of: result).contains("need more than 128 processes") == (count > 2))
        }
    }

    @Test func uncheckedMemberFailuresFailTheCase() async throws {
        let program = Self.worker(Self.snapshot(failed: 2))
        let result = try await Self.run("W start { connect }\nW expect connected 5", program)
        #expect(result.verdict == .failed)
        let texts = Self.texts(of: result)
        #expect(texts.contains("2 of W's 5 members could not follow their script"), "\(texts)")
        #expect(texts.contains("2 members failed at line 5 (connect): refused"), "\(texts)")
        let stopped = try await Self.run("W start { connect }\nW expect connected 5\nW stop", program)
        #expect(stopped.verdict == .failed)
        let judged = try await Self.run("W start { connect }\nW expect failed 2", program)
        #expect(judged.verdict == .passed, "\(Self.texts(of: judged))")
    }

    /// Steps, and whether each of them allows the crowd to end with two failed members, one of which failed after the
    /// step.
    @Test(arguments: [
        ("failed == 1", false), ("failed <= 1", false), ("failed < 2", false), ("failed <= 2", true),
        ("failed >= 1", true), ("alive >= 4", false), ("alive > 2", true), ("alive >= 3", true), ("alive <= 4", true),
        ("done == 0", true),
    ])
    func lastStepJudgesLaterFailures(_ step: String, _ isAllowed: Bool) async throws {
        let before = Self.snapshot(alive: 4, failed: 1)
        let program = Self.worker([before, Self.snapshot(alive: 3, failed: 2)])
        for end in ["", "\nW stop"] {
            let result = try await Self.run("W start { connect }\nW expect \(step)\(end)", program)
            #expect((result.verdict == .passed) == isAllowed, "\(Self.texts(of: result))")
            if !isAllowed {
                #expect(
                    Self.texts(of: result).contains("the last step that judged the members allows at most"),
                    "\(Self.texts(of: result))")
            }
        }
    }

    @Test func unconsumedBytesFailTheCase() async throws {
        var snapshot = Self.snapshot()
        snapshot.withRest = 4
        snapshot.rest = CrowdSnapshot.Rest(bytes: Array("extra\r\n".utf8), count: 7)
        for end in ["", "\nW stop", "\nW stop\nW start { connect }"] {
            let result = try await Self.run(
                "W start { connect }\nW expect failed 0\(end)", Self.worker(snapshot))
            #expect(result.verdict == .failed)
            let texts = Self.texts(of: result)
            #expect(texts.contains("4 of W's 5 members received bytes that no statement"), "\(texts)")
            #expect(texts.contains("one member received 7 bytes"), "\(texts)")
            #expect(texts.contains("ignore rest"), "\(texts)")
            #expect(result.findings.first?.actual == Array("extra\r\n".utf8))
        }
    }

    /// An expectation is impossible if no value that the number can still reach satisfies it. The test covers every
    /// count and every comparison.
    @Test(arguments: CrowdCount.allCases, Comparison.allCases)
    func impossibilityIsDetected(_ count: CrowdCount, _ comparison: Comparison) {
        let members = 6
        for value in 0...members {
            var snapshot = CrowdSnapshot()
            switch count {
            case .connected: snapshot.connected = value
            case .alive: snapshot.alive = value
            case .failed: snapshot.failed = value
            case .done: snapshot.done = value
            }
            for bound in 0...members {
                let wanted = ResolvedCrowdExpectation.count(count, comparison, bound)
                let reachable = count.onlyGrows ? value...members : 0...members
                let canHold = reachable.contains { comparison.holds($0, bound) }
                let isImpossible = wanted.isImpossible(after: snapshot, of: members, isMeasuredAgain: false)
                #expect(isImpossible == !canHold, "\(wanted.description) at \(value)")
            }
        }
    }

    /// In the case with `n = 0`, the step `failed >= n` is always satisfied, so it judges no failures.
    @Test(arguments: ["failed >= n", "alive >= n", "done n"])
    func stepThatAlwaysHoldsJudgesNothing(_ step: String) async throws {
        let program = Self.worker(Self.snapshot(failed: 2))
        let result = try await Self.run("each n = 0, 1\nW start { connect }\nW expect \(step)", program)
        #expect(result.verdict == .failed)
        #expect(Self.texts(of: result).contains("2 of W's 5 members"), "\(Self.texts(of: result))")
    }

    /// A number that is known only when the crowd starts has the same limit as a number that the checker can evaluate.
    @Test(arguments: [("expect n bytes", 67_108_864), ("read n every 1s", 1_073_741_824)])
    func memberByteCountsAreLimited(_ statement: String, _ most: Int) async throws {
        let program = Self.worker(Self.snapshot())
        let script = """
            scenario "crowd"
            each n = \(most + 1), 1
            crowd W = 5 clients -> 127.0.0.1:1
            W start { connect; \(statement) }
            W expect alive 5
            """
        let results = try await Stage.run(script, usesCapture: false, crowdProgram: program)
        let result = try #require(results.first)
        #expect(results.last?.verdict == .passed)
        #expect(result.verdict == .error)
        #expect(Self.texts(of: result).contains("must be between 1 and \(most), not "), "\(Self.texts(of: result))")
    }

    @Test func excessConnectionsAreReported() async throws {
        var snapshot = Self.snapshot()
        snapshot.refused = 3
        let script = "W start { connect }\nW expect alive 4 within 30ms"
        let result = try await Self.run(script, Self.worker(snapshot))
        #expect(result.crowds.first?.counts.last.map { $0 == ("refused", 3) } == true)
        let texts = result.timeline.compactMap { entry in
            if case .event("W", let text) = entry.kind { text } else { nil }
        }
        #expect(texts.contains { $0.hasSuffix("; 3 excess connections refused") }, "\(texts)")
    }

    @Test func failedCaseHasLatenciesInItsTimeline() async throws {
        let program = Self.worker(Self.snapshot(waits: [1_000_000, 100_000_000]))
        let result = try await Self.run("W start { connect }\nW expect alive 4 within 30ms", program)
        let events = result.timeline.compactMap { entry in
            if case .event("W", let text) = entry.kind { text } else { nil }
        }
        #expect(events.contains("latency of connect, 2 waits:"), "\(events)")
        #expect(events.contains { $0.hasPrefix("    p50      1 ms  =") }, "\(events)")
    }

    @Test(arguments: [
        (
            "echo '{\"error\":\"there is no room\"}'; exit 1",
            "a worker of the crowd that connects to S can't continue: there is no room"
        ),
        ("kill -9 $$", "was killed by SIGKILL"), ("exit 7", "exited with status 7"),
        ("echo hello", "printed invalid JSON: \"hello\""), ("echo '{\"hello\":1}'", "printed an unknown message"),
        ("echo no memory >&2; exit 1", "exited with status 1: no memory"),
    ])
    func failedWorkerIsAnError(_ ready: String, _ text: String) async throws {
        let result = try await Self.run("W start { connect }", Self.worker(Self.snapshot(), ready: ready))
        #expect(result.verdict == .error)
        #expect(Self.texts(of: result).contains(text), "\(Self.texts(of: result))")
    }

    /// Two crowds that connect to the same server both wait until the server's sinks listen; only then do the workers
    /// of either crowd start.
    @Test func concurrentCrowdsWaitForTheServersWorkers() async throws {
        let program = Self.worker(
            Self.snapshot(),
            ready: """
                case "$order" in *sink*) sleep 0.3; touch $0 ;; *) test -e $0 || exit 9 ;; esac
                echo '{"ready":true,"port":0}'
                """)
        let mark = "/tmp/tcpprobe-test-\(UInt64.random(in: 0...UInt64.max))"
        defer { unlink(mark) }
        let result = try await Self.run(
            """
            crowd U = 5 clients -> S
            together {
                W start { connect }
                U start { connect }
            }
            W expect alive 5
            U expect alive 5
            """, program + [mark])
        #expect(result.verdict == .passed, "\(Self.texts(of: result))")
    }

    /// When the server stops listening, its sinks stop listening, too, but keep running until the server reboots.
    @Test(arguments: [
        ("S stop listening\nW expect alive 5\nS listen\nW expect alive 5", "S reboot\nW expect alive 0"),
        ("S stop listening\nS listen\nS stop listening\nW expect alive 5\nS listen", "S reboot\nW expect alive 0"),
    ])
    func connectionsOutliveTheListener(_ stop: String, _ reboot: String) async throws {
        let mark = "/tmp/tcpprobe-test-\(UInt64.random(in: 0...UInt64.max))"
        defer { for file in [mark, mark + ".end"] { unlink(file) } }
        let answers = [Self.snapshot(), Self.snapshot(alive: 0)].map {
            String(decoding: $0.json.encoded(.ascii), as: UTF8.self)
        }
        let program = [
            "/bin/sh", "-c",
            """
            read order; echo '{"ready":true,"port":0}'; while read line; do case "$line" in
            *snapshot*) if test -e $0 && ! test -e $0.end; then echo '\(answers[0])'; else echo '\(answers[1])'; fi ;;
            *stopListening*) touch $0 ;;
            esac; done
            case "$order" in *sink*) touch $0.end ;; esac
            """, mark,
        ]
        let result = try await Self.run("W start { connect }\n\(stop)\n\(reboot)", program)
        #expect(result.verdict == .passed, "\(Self.texts(of: result))")
    }

    @Test func stoppedCrowdCanRestart() async throws {
        let program = Self.worker(Self.snapshot())
        let again = try await Self.run(
            "W start { connect }\nW stop\nW start { connect }\nW expect alive 5\nS stop listening\nS listen\nW stop",
            program)
        #expect(again.verdict == .passed, "\(Self.texts(of: again))")
    }
}
