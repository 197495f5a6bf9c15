/// How long a transport waits before it makes another connection.
public struct TransportReconnect: Sendable, Equatable {
    /// Behind a loss, and behind a first attempt that failed.
    public var shortest: Duration
    /// Never more than this.
    public var longest: Duration

    /// - Parameter longest: not less than `shortest`.
    public init(shortest: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = longest
    }

    /// The wait doubles with each attempt that fails.
    ///
    /// - Parameter waits: how many came before it since a connection was last made.
    func wait(after waits: Int) -> Duration {
        var wait = shortest
        // A shift could overflow: the longest is reached after a few steps.
        for _ in 0..<waits where wait < longest { wait *= 2 }
        return min(wait, longest)
    }
}
