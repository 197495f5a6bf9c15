package import ProbeBase

/// A statement about a connection's packets on the wire, with all of the statement's values computed.
package enum WireAssertion: Sendable, Equatable {
    /// A statement about the packets of one side.
    case halfConnection(HalfConnectionStatement<Resolved>, from: ConversationSide)
    case fin(from: ConversationSide)
    case rst(from: ConversationSide)
    case noReset
    /// The given side sent the first FIN or RST.
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
    /// The statement is not true yet. The associated failure states what is missing (`the capture contains no FIN from
    /// the server`), and is reported if the deadline expires.
    case waiting(WireFailure)
    /// The verdict is unknown, because the capture cut a packet short or bytes are missing from the capture.
    case inconclusive(String)
}

package struct WireFailure: Sendable, Equatable {
    /// A one-line description of the failure.
    package var summary: String
    /// The expected bytes, if the statement compares bytes. `actual` contains the bytes that were sent.
    package var expected: [UInt8]?
    package var actual: [UInt8]?
    /// Further details, one per line (`gap 2: 12.1 ms`).
    package var details: [String]

    package init(_ summary: String, expected: [UInt8]? = nil, actual: [UInt8]? = nil, details: [String] = []) {
        self.summary = summary
        self.expected = expected
        self.actual = actual
        self.details = details
    }
}
