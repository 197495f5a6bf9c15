package import ProbeBase
import ProbeScenario

/// A send that may be varied, and that is performed by one of the harness's endpoints.
package struct SendSite: Hashable, Sendable {
    /// The number of the send's step.
    package var step: Int
    package var actor: String
    /// The bytes that the step's first execution sends, including terminators.
    package var bytes: [UInt8]
    /// The smallest number of bytes that any execution of the step sends. Every smaller offset is therefore valid in
    /// all executions. On a TLS connection, the number is the length of the records.
    package var length: Int
    /// Whether the connection uses TLS. If so, offsets are counted in the TLS records, and `bytes` is the plaintext.
    package var isSealed = false
    /// Whether every execution of the step sends the same bytes.
    package var isConstant = true
    /// The framing of the stream that the send belongs to.
    package var framing: Framing
    /// The maximum total duration of the pauses within the send. With longer pauses, a nearby step could exceed its
    /// time limit.
    package var pauseBudget: Duration
    /// For a proxy, the side that it forwards to. Forwarded bytes were sent by another endpoint, so they can't be
    /// reduced.
    package var destination: ConversationSide?
    /// The next send, if it can be joined to this send; otherwise `nil`.
    package var next: Int?
    /// The step after this send that ends the stream, if its FIN may be sent together with this send; otherwise `nil`.
    package var end: Int?

    /// Whether this is a client's last send, after which the client only reads. The client may then half-close its
    /// connection directly after the send.
    package var mayEnd = false

    package init(
        step: Int, actor: String, bytes: [UInt8], length: Int? = nil, framing: Framing = .crlf,
        pauseBudget: Duration = .milliseconds(500), next: Int? = nil
    ) {
        self.step = step
        self.actor = actor
        self.bytes = bytes
        self.length = length ?? bytes.count
        self.framing = framing
        self.pauseBudget = pauseBudget
        self.next = next
    }

    /// Returns whether `count` pauses of the given duration are within the budget.
    package func allows(_ count: Int, of pause: Duration) -> Bool { pause * count <= pauseBudget }
}
