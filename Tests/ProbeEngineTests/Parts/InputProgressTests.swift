import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Checks that bytes that arrive in many small pieces produce the same result as bytes that arrive at once, and that
/// each byte is compared only once.
struct InputProgressTests {
    private func outcome(_ outcome: InputMatcher.Result) -> String {
        switch outcome {
        case .matched(let take, let completed, let bindings):
            "matched \(take) at \(completed?.nanoseconds ?? -1), \(bindings.map { "\($0.0)=\($0.1)" })"
        case .taken(let parts, let completed, _): "taken \(parts) at \(completed?.nanoseconds ?? -1)"
        case .mismatch(let mismatch): "mismatch \(mismatch.summary)"
        case .pending: "pending"
        }
    }

    private func expectations() throws -> [ConnectionExpectation<Resolved>] {
        [
            .bytes(Array("ab\r\nab\r\n".utf8)), .line(.value(Array("ab".utf8)), as: .of("x")),
            .line(.regex(try ByteRegex("^a")), as: nil), .untilLine(.regex(try ByteRegex("(?<g>b)$")), as: .of("x")),
            .until(delimiter: Array("\r\n\r\n".utf8), as: .of("x")), .until(delimiter: [10], as: nil),
            .count(5, as: .of("x")),
            .linesInAnyOrder([
                (false, .value(Array("b".utf8))), (true, .regex(try ByteRegex("^a"))),
                (false, .regex(try ByteRegex("."))),
            ]),
        ]
    }

    /// Evaluates after each byte while lines and bytes are removed. Each incremental evaluation gives the same result
    /// as an evaluation from scratch.
    @Test(arguments: 0..<60)
    func incrementalEvaluationMatchesFullEvaluation(_ seed: Int) throws {
        var generator = SplitMix64(seed: seed)
        for expected in try expectations() {
            var buffer = ReceiveBuffer()
            var progress = InputProgress()
            for time in 1...40 {
                let words = ["a", "b", "ab", "\r\n", "\r", "\n", "ab\r\n", "b\r\n", ""]
                buffer.append(
                    Array(words[generator.below(words.count)].utf8), at: MonotonicTime(nanoseconds: Int64(time)))
                let matcher = InputMatcher(buffer: buffer, end: nil, framing: .crlf)
                var first = InputProgress()
                let (later, fresh) = (matcher.match(expected, &progress), matcher.match(expected, &first))
                #expect(outcome(later) == outcome(fresh))
                if generator.below(8) == 0, buffer.count > 2 {
                    let start = generator.below(buffer.count - 1)
                    buffer.remove([start..<(start + 1)])
                } else if generator.below(12) == 0, !buffer.isEmpty {
                    buffer.drop(1)
                }
            }
        }
    }

    /// The work of a single evaluation is limited, so that a wait that must search many bytes yields to other waits.
    @Test func singleEvaluationIsBounded() throws {
        var buffer = ReceiveBuffer()
        buffer.append([UInt8](repeating: 10, count: 1 << 16), at: MonotonicTime(nanoseconds: 1))
        let matcher = InputMatcher(buffer: buffer, end: .eof(MonotonicTime(nanoseconds: 2)), framing: .lf)
        var progress = InputProgress()
        var looks = 0
        while true {
            looks += 1
            let outcome = matcher.match(.untilLine(.value([97]), as: nil), &progress)
            guard progress.isBusy else {
                #expect(self.outcome(outcome).hasPrefix("mismatch was closed by the peer (FIN)"))
                break
            }
            #expect(self.outcome(outcome) == "pending")
        }
        #expect(looks > 2)
    }
}
