package import ProbeBase

/// A statement about what was seen on the wire, with all its values computed.
package enum WireAssertion: Sendable, Equatable {
    /// About the bytes of one side.
    case halfConnection(HalfConnectionAssertion, from: ConversationSide)
    case fin(from: ConversationSide)
    case rst(from: ConversationSide)
    case noReset
    /// That side's FIN or RST came first.
    case closedFirst(by: ConversationSide)
    case handshakeComplete
    case noRetransmission
    case packets(Comparison, Int)
}

/// What a statement comes to.
package enum WireVerdict: Sendable, Equatable {
    case passed
    /// It is not so, and nothing that still comes can make it so.
    case failed(WireFailure)
    /// Not yet so; the text says what is waited for (`a FIN from the server`). At the deadline it is the failure.
    case waiting(WireFailure)
    /// It can't be known: a packet was cut short by the capture, bytes are missing from it.
    case inconclusive(String)
}

package struct WireFailure: Sendable, Equatable {
    /// One line: what is wrong.
    package var summary: String
    /// For byte comparisons: what should have been there and what was, raw.
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
