/// When each piece of a send is sent. Without a pace, pieces are sent at once.
package enum Pace: Sendable, Equatable {
    /// The interval after the departure of the previous piece: never shorter, and a delay is not made up for.
    case every(Duration)
    /// Bytes per second, on average, from the first byte.
    case rate(Int)
}

/// Where bytes are cut into pieces, each of which is sent as a separate segment.
package enum Cut<Stage: StatementStage>: Sendable {
    /// At offsets in ascending order.
    case at([Stage.Number])
    /// At the places that the seed chooses.
    case random(seed: Stage.Number)
    /// Into pieces of at most this size, without waiting for more bytes to fill one.
    case inPieces(of: Stage.Number)
}

extension Cut: Equatable where Stage.Number: Equatable {}
