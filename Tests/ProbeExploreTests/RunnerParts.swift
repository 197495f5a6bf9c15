import ProbeEvents
import ProbeScenario
import Synchronization

/// Returns the result of a case that failed at a step, with the expected and the actual value.
func failedResult(
    at span: SourceSpan?, _ summary: String = "wrong", expected: String? = nil, actual: String? = nil,
    end: UnexpectedEnd? = nil
) -> CaseResult {
    var finding = Finding(
        .failed, at: span, summary, expected: expected.map { Array($0.utf8) }, actual: actual.map { Array($0.utf8) })
    finding.unexpectedEnd = end
    return CaseResult(
        id: "a", path: "a.scn", sources: SourceMap([]), title: "", about: nil, because: [], level: .must, tags: [],
        subject: nil, verdict: .failed, findings: [finding], timeline: [], duration: 0, capturePath: nil, rerun: "")
}

/// A counter that any thread can decrement.
final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func set(_ count: Int) { left.withLock { $0 = count } }

    /// Decrements the counter, and returns whether it was greater than 0.
    func takeOne() -> Bool {
        left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
    }
}
