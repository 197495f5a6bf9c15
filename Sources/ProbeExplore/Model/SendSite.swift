package import ProbeBase
import ProbeScenario

/// A send by an endpoint of the harness that may be varied.
package struct SendSite: Hashable, Sendable {
    /// The number of the step.
    package var step: Int
    package var actor: String
    /// The bytes of its first execution, including terminators.
    package var bytes: [UInt8]
    /// The smallest length of its executions: offsets below it are valid in each of them. With TLS, the length of the
    /// records.
    package var length: Int
    /// Whether the connection uses TLS. If so, offsets count the bytes of its records, and `bytes` is the plaintext.
    package var isSealed = false
    /// Whether each execution sends the same bytes.
    package var isConstant = true
    /// The framing of its stream.
    package var framing: Framing
    /// The maximum total of the pauses between its pieces, so that no time bound of a nearby step is violated.
    package var pauseBudget: Duration
    /// For a proxy, the side that it forwards to. Forwarded bytes are another endpoint's, and can't be reduced.
    package var destination: ConversationSide?
    /// The send that leaves together with this one if the two are joined; `nil` if it can't be joined.
    package var next: Int?
    /// The step that ends sending after this send, if its FIN may leave with this send; `nil` if it may not.
    package var end: Int?

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

    /// Returns whether this number of pauses of this length stays within the budget.
    package func allows(_ count: Int, of pause: Duration) -> Bool { pause * count <= pauseBudget }
}
