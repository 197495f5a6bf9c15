/// The time that a transport waits before it reconnects.
public struct TransportReconnect: Sendable, Equatable {
    /// The wait after a connection is lost, and after the first failed attempt.
    public var shortest: Duration
    /// The maximum wait before an attempt to reconnect.
    public var longest: Duration

    /// Creates the limits for the wait.
    ///
    /// - Parameter longest: the upper limit; not less than `shortest`.
    public init(shortest: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = longest
    }

    /// Returns the time to wait before the next attempt. The time doubles with each failed attempt.
    ///
    /// - Parameter waits: the number of earlier waits since a connection was last established.
    func wait(after waits: Int) -> Duration {
        var wait = shortest
        // The wait is doubled in a loop because a shift could overflow; the loop reaches `longest` after a few
        // iterations.
        for _ in 0..<waits where wait < longest { wait *= 2 }
        return min(wait, longest)
    }
}
