/// A statement about the data that one side of a connection has sent.
package enum HalfConnectionStatement<Stage: StatementStage>: Sendable {
    case bytes(Stage.Bytes)
    case segmentCount(Comparison, Stage.Number)
    case segments([Stage.Bytes])
    /// A gap between segments, as in `gap 1 >= 25ms`. If `index` is `nil`, as in `gap >= 25ms`, the statement applies
    /// to every gap.
    case gap(index: Int?, Comparison, Duration)
    case largestSegment(Comparison, Stage.Number)
    /// The length of the longest line, excluding its terminator.
    case longestLine(Comparison, Stage.Number)
    case lines(Framing)
    case messages(Comparison, Stage.Number, Stage.HeaderFraming)
    /// The time between the end of the handshake and the first byte.
    case firstByte(within: Duration)
    case zeroWindow
    /// The largest window that the side advertised, in bytes, after scaling.
    case window(Comparison, Stage.Number)
    case urgent
    case retransmissions(Comparison, Stage.Number)
    /// The number of acknowledgments that report bytes received after a gap (SACK).
    case sacks(Comparison, Stage.Number)
    case duplicateAcks(Comparison, Stage.Number)
    case keepAlives(Comparison, Stage.Number)
    /// The number of complete TLS records.
    case records(Comparison, Stage.Number)
    /// The number of complete WebSocket frames.
    case frames(Comparison, Stage.Number)
    /// The stream consists only of TLS records, either from its first byte on or from the first record on.
    case tls(fromStart: Bool)
    /// The given bytes do not occur in the stream, which must contain at least one byte.
    case lacks(Stage.Bytes)
}

extension HalfConnectionStatement: Equatable where Stage == Resolved {}
