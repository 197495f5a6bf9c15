/// How a transport keeps its connection alive, and how it notices that the peer has vanished.
///
/// From `started` on, until one side has ended the stream. Neither FIN nor RST tells of a peer that has vanished: only its
/// silence does.
public struct TransportHeartbeat: Sendable, Equatable {
    /// A heartbeat is sent when nothing was sent for so long, and nothing waits to be written; nil: none is sent.
    public var interval: Duration?
    /// What a heartbeat is: a message, which the transport frames. `sent` does not count it.
    public var message: [UInt8]
    /// The connection stops with `heartbeat` when nothing that counts as life came for so long, while it was read; nil: never.
    public var timeout: Duration?
    /// The message that counts as life, and nothing else does then. It is not delivered. Nil: every byte counts, and every
    /// message is delivered.
    public var answer: [UInt8]?

    /// A heartbeat that is sent, a silence that is noticed, or both.
    public init(interval: Duration? = nil, message: [UInt8] = [], timeout: Duration? = nil, answer: [UInt8]? = nil) {
        self.interval = interval
        self.message = message
        self.timeout = timeout
        self.answer = answer
    }
}
