package import ProbeBase
import ProbeScenario

/// A send of an endpoint of the harness that may be varied.
package struct SendSite: Hashable, Sendable {
    /// The number of the step.
    package var step: Int
    package var actor: String
    /// What its first execution sends, terminators included.
    package var bytes: [UInt8]
    /// The smallest length of its executions: offsets below it are right in each. With TLS that of the records.
    package var length: Int
    /// The connection speaks TLS: offsets count the bytes of its records, and `bytes` is the plaintext.
    package var isSealed = false
    /// Whether each execution sends the same bytes.
    package var isConstant = true
    /// What ends a unit in its stream.
    package var framing: Framing
    /// How long all pauses between its pieces may take together, so that no bound of a step near it can break.
    package var pauseBudget: Duration
    /// Of a proxy: where its bytes go on to. What it passes on is another's, and can't be made smaller.
    package var destination: ConversationSide?
    /// The send that leaves with this one if the two are joined; nil if none may.
    package var next: Int?
    /// The step that ends the sending behind this send, where its FIN may leave with this send; nil if it may not.
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

    /// Whether so many pauses of this length stay within the budget.
    package func allows(_ count: Int, of pause: Duration) -> Bool { pause * count <= pauseBudget }
}
