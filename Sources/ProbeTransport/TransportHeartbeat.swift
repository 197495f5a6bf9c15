/// How a transport keeps its connection alive, and how it notices that the peer has vanished.
///
/// Heartbeats are used from `started` on, until one side has ended the stream. A peer that has vanished sends neither
/// FIN nor RST, so only its silence shows that it has vanished.
public struct TransportHeartbeat: Sendable, Equatable {
    /// The time without output after which a heartbeat is sent, if nothing is queued; `nil` if no heartbeats are sent.
    public var interval: Duration?
    /// The message that is sent as a heartbeat, before framing. `sent` does not count its bytes.
    public var message: [UInt8]
    /// The time after which the connection stops with `heartbeat` if no sign of life is received and reading is not
    /// stopped; `nil` for no limit.
    public var timeout: Duration?
    /// The only message that counts as a sign of life; it is not delivered. If `nil`, every received byte counts as a
    /// sign of life, and every message is delivered.
    public var answer: [UInt8]?

    /// Creates a configuration that sends heartbeats, detects silence, or both.
    public init(interval: Duration? = nil, message: [UInt8] = [], timeout: Duration? = nil, answer: [UInt8]? = nil) {
        self.interval = interval
        self.message = message
        self.timeout = timeout
        self.answer = answer
    }
}
