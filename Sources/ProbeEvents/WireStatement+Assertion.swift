package import ProbeScenario
package import ProbeWire

extension HalfConnectionAssertion {
    /// The statement with its values computed.
    ///
    /// - Parameters:
    ///   - framing: what `messages` counts.
    ///   - deadline: stretches the deadline of `first byte within`; all other values are the script's.
    package init(
        _ statement: WireStatement.FlowStatement, evaluator: Evaluator, framing: Framing,
        deadline: (Duration) -> Duration = { $0 }
    ) throws(EvaluationError) {
        switch statement {
        case .bytes(let expression): self = .bytes(try evaluator.bytes(of: expression))
        case .segmentCount(let comparison, let count):
            self = .segmentCount(WireComparison(comparison), try evaluator.integer(of: count))
        case .segments(let expressions):
            var segments: [[UInt8]] = []
            for expression in expressions { segments.append(try evaluator.bytes(of: expression)) }
            self = .segments(segments)
        case .gap(let index, let comparison, let duration):
            self = .gap(
                index: index, WireComparison(comparison), nanoseconds: HalfConnectionAssertion.nanoseconds(duration))
        case .largestSegment(let comparison, let size):
            self = .largestSegment(WireComparison(comparison), try evaluator.integer(of: size))
        case .longestLine(let comparison, let size):
            self = .longestLine(WireComparison(comparison), try evaluator.integer(of: size))
        case .lines(let framing): self = .lines(WireFraming(framing))
        case .messages(let comparison, let count):
            self = .messages(WireComparison(comparison), try evaluator.integer(of: count), WireFraming(framing))
        case .firstByte(let duration):
            self = .firstByte(withinNanoseconds: HalfConnectionAssertion.nanoseconds(deadline(duration)))
        case .zeroWindow: self = .zeroWindow
        case .window(let comparison, let size):
            self = .window(WireComparison(comparison), try evaluator.integer(of: size))
        case .urgent: self = .urgent
        case .retransmissions(let comparison, let count):
            self = .retransmissions(WireComparison(comparison), try evaluator.integer(of: count))
        }
    }

    /// Held inside Int64, which is 292 years.
    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? Int64.min : Int64.max }
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? Int64.min : Int64.max) : sum
    }
}

extension WireComparison {
    package init(_ comparison: Comparison) {
        // Both enumerate the same six signs.
        self = WireComparison(rawValue: comparison.rawValue) ?? .equal
    }
}

extension WireFraming {
    /// `none` for a framing that the wire does not cut.
    package init(_ framing: Framing) {
        self = WireFraming(rawValue: framing.rawValue) ?? .none
    }
}
