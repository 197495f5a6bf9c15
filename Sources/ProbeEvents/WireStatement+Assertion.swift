package import ProbeBase
package import ProbeScenario
package import ProbeWire

extension HalfConnectionAssertion {
    /// The statement with its values computed.
    ///
    /// - Parameters:
    ///   - framing: what `messages` counts.
    ///   - deadline: stretches the deadline of `first byte within`; all other values are the script's.
    package init(
        _ statement: HalfConnectionStatement, evaluator: Evaluator, framing: Framing,
        deadline: (Duration) -> Duration = { $0 }
    ) throws(EvaluationError) {
        switch statement {
        case .bytes(let expression): self = .bytes(try evaluator.bytes(of: expression))
        case .segmentCount(let comparison, let count):
            self = .segmentCount(comparison, try evaluator.integer(of: count))
        case .segments(let expressions):
            var segments: [[UInt8]] = []
            for expression in expressions { segments.append(try evaluator.bytes(of: expression)) }
            self = .segments(segments)
        case .gap(let index, let comparison, let duration):
            self = .gap(
                index: index, comparison, nanoseconds: duration.nanoseconds)
        case .largestSegment(let comparison, let size):
            self = .largestSegment(comparison, try evaluator.integer(of: size))
        case .longestLine(let comparison, let size):
            self = .longestLine(comparison, try evaluator.integer(of: size))
        case .lines(let framing): self = .lines(framing)
        case .messages(let comparison, let count):
            self = .messages(comparison, try evaluator.integer(of: count), framing)
        case .firstByte(let duration):
            self = .firstByte(withinNanoseconds: deadline(duration).nanoseconds)
        case .zeroWindow: self = .zeroWindow
        case .window(let comparison, let size):
            self = .window(comparison, try evaluator.integer(of: size))
        case .urgent: self = .urgent
        case .retransmissions(let comparison, let count):
            self = .retransmissions(comparison, try evaluator.integer(of: count))
        }
    }
}
