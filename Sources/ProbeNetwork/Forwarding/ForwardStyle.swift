import ProbeBase

/// How the bytes of one direction go on through a proxy.
package struct ForwardStyle: Sendable, Equatable {
    /// Where what goes on is cut: each piece leaves as a segment of its own.
    package enum Cut: Sendable, Equatable {
        /// No piece is longer; none is waited for.
        case inPieces(of: Int)
        /// Offsets in rising order, counted from where the style begins to hold.
        case at([Int])
        /// At the places that the seed chooses, 1 to 64 bytes apart.
        case random(seed: UInt64)
    }

    package enum Pace: Sendable, Equatable {
        case atOnce
        /// From one piece to the next.
        case every(Duration)
        /// Bytes a second, on average.
        case rate(Int)
    }

    package var cut: Cut?
    package var pace: Pace
    /// From when bytes came to when they go on.
    package var delay: Duration
    /// What comes goes on in one write, once nothing has come for ``joinPause``.
    package var isJoined: Bool

    package init(cut: Cut? = nil, pace: Pace = .atOnce, delay: Duration = .zero, isJoined: Bool = false) {
        (self.cut, self.pace, self.delay, self.isJoined) = (cut, pace, delay, isJoined)
    }

    /// As it comes.
    package static let plain = ForwardStyle()

    /// How long nothing has to come before what is joined goes on.
    package static let joinPause = Duration.milliseconds(5)
}

/// How the bytes of a direction have ended.
package enum ForwardEnd: Sendable, Equatable {
    /// The peer's FIN, passed on.
    case fin
    /// The peer's RST, passed on.
    case reset
    /// Asked for: a FIN; what comes back is still passed on.
    case halfClose
    /// Asked for: a FIN, and nothing comes back.
    case close
}
