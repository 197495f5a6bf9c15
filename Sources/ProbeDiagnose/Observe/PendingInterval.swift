import ProbeBase

/// An interval whose state is not decided yet, with what is known about it.
struct PendingInterval: Sendable {
    var end: Int64
    var facts: PendingFacts
    /// How much each side may send, in bytes; `nil` if unknown.
    var clientRoom: Int64?
    var serverRoom: Int64?
    /// The state, if an event has already shown it.
    var state: FlowState?
}

struct PendingFacts: OptionSet, Sendable {
    let rawValue: UInt8
    static let recovery = PendingFacts(rawValue: 1)
    static let clientBlocked = PendingFacts(rawValue: 2)
    static let serverBlocked = PendingFacts(rawValue: 4)
    static let clientOutstanding = PendingFacts(rawValue: 8)
    static let serverOutstanding = PendingFacts(rawValue: 16)
    /// One side has closed, and nothing is outstanding.
    static let clientClosed = PendingFacts(rawValue: 32)
    static let serverClosed = PendingFacts(rawValue: 64)
}

/// What ends a wait.
enum WaitEnd {
    case data(ConversationSide, length: Int)
    case fin(ConversationSide)
    /// No data follows.
    case none
}

/// What a wait was spent on, where no fact about an interval takes precedence.
struct WaitPlan {
    /// The time until which the network was delivering data.
    var roundTripEnd: Int64?
    /// The state after that; `nil` for a transfer, whose limit depends on the interval.
    var state: FlowState?
    /// Whether the sender paused although an acknowledgment had arrived.
    var isPaused = false
}
