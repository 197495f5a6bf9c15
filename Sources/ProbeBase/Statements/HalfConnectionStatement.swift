/// A statement about what one side of a connection has sent.
package enum HalfConnectionStatement<Stage: StatementStage>: Sendable {
    case bytes(Stage.Bytes)
    case segmentCount(Comparison, Stage.Number)
    case segments([Stage.Bytes])
    /// `gap >= 25ms` (`index` is `nil`: every gap) or `gap 1 >= 25ms`
    case gap(index: Int?, Comparison, Duration)
    case largestSegment(Comparison, Stage.Number)
    /// The length of the longest line's content, without its terminator.
    case longestLine(Comparison, Stage.Number)
    case lines(Framing)
    case messages(Comparison, Stage.Number, Stage.HeaderFraming)
    /// The time of the first byte after the end of the handshake.
    case firstByte(within: Duration)
    case zeroWindow
    /// The largest window that the side announced, scaled, in bytes.
    case window(Comparison, Stage.Number)
    case urgent
    case retransmissions(Comparison, Stage.Number)
    /// Acknowledgments that report bytes received after a gap.
    case sacks(Comparison, Stage.Number)
    case duplicateAcks(Comparison, Stage.Number)
    case keepAlives(Comparison, Stage.Number)
    /// The number of whole TLS records.
    case records(Comparison, Stage.Number)
    /// The number of whole WebSocket frames.
    case frames(Comparison, Stage.Number)
    /// Nothing but TLS records, from the first record on or from the first byte on.
    case tls(fromStart: Bool)
    /// These bytes, at least one, do not occur in the stream.
    case lacks(Stage.Bytes)
}

extension HalfConnectionStatement: Equatable where Stage == Resolved {}
