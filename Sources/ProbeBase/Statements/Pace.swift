/// When each piece of what is sent may leave; where a statement has none, each leaves at once.
package enum Pace: Sendable, Equatable {
    /// Counted from the departure of the previous piece: never less, and a delay is not made up for.
    case every(Duration)
    /// Bytes a second, on average, from the first byte.
    case rate(Int)
}

/// Where bytes are cut: each piece leaves as a segment of its own.
package enum Cut<Stage: StatementStage>: Sendable {
    /// Offsets in rising order.
    case at([Stage.Number])
    /// At the places that the seed chooses.
    case random(seed: Stage.Number)
    /// No piece is longer; none is waited for.
    case inPieces(of: Stage.Number)
}

extension Cut: Equatable where Stage.Number: Equatable {}
