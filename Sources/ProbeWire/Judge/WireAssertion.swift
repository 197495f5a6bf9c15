package import ProbeBase

/// A statement about what was seen on the wire, with all its values computed.
package enum WireAssertion: Sendable, Equatable {
    /// A statement about the bytes of one side.
    case halfConnection(HalfConnectionStatement<Resolved>, from: ConversationSide)
    case fin(from: ConversationSide)
    case rst(from: ConversationSide)
    case noReset
    /// That side's FIN or RST came first.
    case closedFirst(by: ConversationSide)
    case handshakeComplete
    case noRetransmission
    case packets(Comparison, Int)
}

/// The verdict of a statement.
package enum WireVerdict: Sendable, Equatable {
    case passed
    /// The statement is false, and nothing that may still arrive can make it true.
    case failed(WireFailure)
    /// The statement is not true yet. The text says what it waits for (`a FIN from the server`); at the deadline, it is
    /// the failure.
    case waiting(WireFailure)
    /// The verdict can't be known: the capture cut a packet short, or bytes are missing from it.
    case inconclusive(String)
}

package struct WireFailure: Sendable, Equatable {
    /// One line: what is wrong.
    package var summary: String
    /// The raw expected bytes, for byte comparisons.
    package var expected: [UInt8]?
    package var actual: [UInt8]?
    /// More facts, a line each ("gap 2: 12.1 ms").
    package var details: [String]

    package init(_ summary: String, expected: [UInt8]? = nil, actual: [UInt8]? = nil, details: [String] = []) {
        self.summary = summary
        self.expected = expected
        self.actual = actual
        self.details = details
    }
}
