import Glibc
import ProbeBase
import ProbeEvents
import ProbeCrowd
import Testing

/// Crowds that are started more than once. Each question to the workers and each verdict applies to a single start.
struct CrowdRestartTests {
    /// Returns a worker that reports `first` after the first start and `second` after later starts, each 50 ms after
    /// the question.
    ///
    /// - Parameter mark: the path of a file that the first start creates.
    private static func worker(_ first: CrowdSnapshot, then second: CrowdSnapshot, _ mark: String) -> [String] {
        let texts = [first, second].map { String(decoding: $0.json.encoded(.ascii), as: UTF8.self) }
        return [
            "/bin/sh", "-c",
            """
            read order
            case "$order" in *sink*) ;; *)
                if test -e $0; then answer='\(texts[1])'; else touch $0; answer='\(texts[0])'; fi ;;
            esac
            echo '{"ready":true,"port":0}'; while read line; do case "$line" in
            *snapshot*) sleep 0.05; echo "$answer" ;;
            *\\"stop\\"*) echo '{"stopped":true}' ;;
            esac; done
            """, mark,
        ]
    }

    private static func run(
        _ steps: String, _ first: CrowdSnapshot, then second: CrowdSnapshot
    ) async throws -> CaseResult {
        let mark = "/tmp/tcpprobe-test-\(UInt64.random(in: 0...UInt64.max))"
        defer { unlink(mark) }
        // The timeout is longer than any stall of a busy machine. No step of the tested scripts waits until its
        // deadline.
        return try await CrowdTests.run(steps, worker(first, then: second, mark), timeout: "120s")
    }

    /// A question that the workers of the first start have not answered is sent again to the workers of the second
    /// start.
    @Test func expectationContinuesAcrossARestart() async throws {
        let result = try await Self.run(
            """
            W start { connect }
            together {
                W expect connected 5
                do { wait 30ms; W stop; W start { connect } }
            }
            """, CrowdTests.snapshot(connected: 4, alive: 4), then: CrowdTests.snapshot())
        #expect(result.verdict == .passed, "\(CrowdTests.texts(of: result))")
    }

    /// The failures of each start are judged by the steps after that start.
    @Test(arguments: [
        "W expect connected 5\nW stop\nW start { connect }\nW expect failed 0\nW stop",
        "W stop\nW start { connect }\nW expect alive 5",
    ])
    func failuresBeforeARestartCount(_ steps: String) async throws {
        let result = try await Self.run(
            "W start { connect }\n\(steps)", CrowdTests.snapshot(failed: 2), then: CrowdTests.snapshot())
        #expect(result.verdict == .failed)
        #expect(CrowdTests.texts(of: result).contains("2 of W's 5 members"), "\(CrowdTests.texts(of: result))")
        #expect(CrowdTests.texts(of: result).contains("failed at line 5 (connect)"), "\(CrowdTests.texts(of: result))")
    }

    @Test func judgementAppliesToOneStart() async throws {
        let restart = "W start { connect }\nW expect failed 2\nW stop\nW start { connect }\n"
        let (first, second) = (CrowdTests.snapshot(failed: 2), CrowdTests.snapshot(failed: 3))
        let result = try await Self.run(restart + "W expect connected 5", first, then: second)
        #expect(result.verdict == .failed)
        #expect(CrowdTests.texts(of: result).contains("3 of W's 5 members"), "\(CrowdTests.texts(of: result))")
        let judged = try await Self.run(restart + "W expect failed 3", first, then: second)
        #expect(judged.verdict == .passed, "\(CrowdTests.texts(of: judged))")
    }

    /// A `retry` starts a crowd again in each attempt, and the failures of members in failed attempts are not judged.
    @Test func eachRetryAttemptRestartsTheCrowd() async throws {
        let result = try await Self.run(
            """
            retry every 10ms within 60s {
                W start { connect }
                W expect connected 5 within 100ms
            }
            W expect connected 5
            """, CrowdTests.snapshot(connected: 4, alive: 4, failed: 1), then: CrowdTests.snapshot())
        #expect(result.verdict == .passed, "\(CrowdTests.texts(of: result))")
        #expect(result.crowds.map { $0.failures.count } == [1, 0])
    }
}
