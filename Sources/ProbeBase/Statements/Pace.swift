/// The timing of the pieces of a send. Without a pace, the pieces are sent with no delay between them.
package enum Pace: Sendable, Equatable {
    /// The minimum interval between the departures of two consecutive pieces. A late piece does not shorten the next
    /// interval.
    case every(Duration)
    /// The average number of bytes per second, counted from the first byte.
    case rate(Int)
}

/// The places at which the bytes of a send are cut into pieces. Each piece is sent as a separate segment.
package enum Cut<Stage: StatementStage>: Sendable {
    /// The bytes are cut at these offsets, in ascending order.
    case at([Stage.Number])
    /// The bytes are cut at pseudorandom offsets that the seed determines.
    case random(seed: Stage.Number)
    /// The bytes are cut into pieces of at most this size. A smaller piece is sent without waiting for more bytes.
    case inPieces(of: Stage.Number)
}

extension Cut: Equatable where Stage.Number: Equatable {}
