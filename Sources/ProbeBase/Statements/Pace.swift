/// When each piece of a send may leave. Without a pace, pieces leave at once.
package enum Pace: Sendable, Equatable {
    /// Counted from the departure of the previous piece: never less, and a delay is not made up for.
    case every(Duration)
    /// Bytes a second, on average, from the first byte.
    case rate(Int)
}

/// Where bytes are cut into pieces, each of which leaves as a separate segment.
package enum Cut<Stage: StatementStage>: Sendable {
    /// Offsets in rising order.
    case at([Stage.Number])
    /// At the places that the seed chooses.
    case random(seed: Stage.Number)
    /// No piece is longer; none is waited for.
    case inPieces(of: Stage.Number)
}

extension Cut: Equatable where Stage.Number: Equatable {}
