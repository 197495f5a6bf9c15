package import ProbeBase
package import ProbeScenario
package import ProbeWire

/// A wire statement whose values are computed and whose endpoints are still names. Every wire statement of a script is
/// translated here.
package enum ResolvedStatement: Sendable {
    case sent(HalfConnectionAssertion, from: Name, to: Name)
    case endpoint(EndpointEvent, Name, peer: Name?)
    case everywhere(WireAssertion)
    /// A statement about packets as they arrived at their receiver.
    indirect case arrived(ResolvedStatement)

    package enum EndpointEvent: Sendable {
        case fin, rst, closedFirst

        /// Returns the same statement about one connection, with the side of the named endpoint.
        package func assertion(_ side: ConversationSide) -> WireAssertion {
            switch self {
            case .fin: .fin(from: side)
            case .rst: .rst(from: side)
            case .closedFirst: .closedFirst(by: side)
            }
        }
    }

    /// Translates a statement.
    ///
    /// - Parameters:
    ///   - framing: the framing by which `messages` counts.
    ///   - deadline: multiplies the deadline of `first byte within`; all other values are as in the script.
    package init(
        _ statement: WireStatement, evaluator: Evaluator, framing: Framing, deadline: (Duration) -> Duration = { $0 }
    ) throws(EvaluationError) {
        switch statement {
        case .halfConnection(let from, let to, let flow):
            let assertion = try HalfConnectionAssertion(
                flow, evaluator: evaluator, framing: framing, deadline: deadline)
            self = .sent(assertion, from: from, to: to)
        case .fin(let from, let to): self = .endpoint(.fin, from, peer: to)
        case .rst(let from, let to): self = .endpoint(.rst, from, peer: to)
        case .closedFirst(let name): self = .endpoint(.closedFirst, name, peer: nil)
        case .noReset: self = .everywhere(.noReset)
        case .handshakeComplete: self = .everywhere(.handshakeComplete)
        case .noRetransmission: self = .everywhere(.noRetransmission)
        case .packets(let comparison, let count):
            self = .everywhere(.packets(comparison, try evaluator.integer(of: count)))
        case .arrived(let statement):
            self = .arrived(
                try ResolvedStatement(statement, evaluator: evaluator, framing: framing, deadline: deadline))
        }
    }
}

extension HalfConnectionAssertion {
    fileprivate init(
        _ statement: HalfConnectionStatement, evaluator: Evaluator, framing: Framing,
        deadline: (Duration) -> Duration
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
        case .sacks(let comparison, let count): self = .sacks(comparison, try evaluator.integer(of: count))
        case .duplicateAcks(let comparison, let count):
            self = .duplicateAcks(comparison, try evaluator.integer(of: count))
        case .keepAlives(let comparison, let count):
            self = .keepAlives(comparison, try evaluator.integer(of: count))
        case .records(let comparison, let count):
            self = .records(comparison, try evaluator.integer(of: count))
        case .frames(let comparison, let count):
            self = .frames(comparison, try evaluator.integer(of: count))
        case .tls(let fromStart): self = .tls(fromStart: fromStart)
        case .lacks(let expression): self = .lacks(try evaluator.bytes(of: expression))
        }
    }
}
