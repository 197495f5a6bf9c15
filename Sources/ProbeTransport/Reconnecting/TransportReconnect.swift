/// The time that a transport waits before it reconnects.
public struct TransportReconnect: Sendable, Equatable {
    /// The wait after a loss, and after the first failed attempt.
    public var shortest: Duration
    /// The upper limit of the wait.
    public var longest: Duration

    /// Creates the waits.
    ///
    /// - Parameter longest: the upper limit; not less than `shortest`.
    public init(shortest: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = longest
    }

    /// Returns the wait, which doubles with each failed attempt.
    ///
    /// - Parameter waits: the number of earlier waits since a connection was last established.
    func wait(after waits: Int) -> Duration {
        var wait = shortest
        // A shift could overflow; `longest` is reached after a few steps.
        for _ in 0..<waits where wait < longest { wait *= 2 }
        return min(wait, longest)
    }
}
