/// An end of a TCP connection: `client` sent the SYN (or, if none was seen, spoke first).
package enum ConversationSide: Sendable, Hashable, CaseIterable {
    case client, server

    package var opposite: ConversationSide { self == .client ? .server : .client }

    /// The side's word in scripts and reports.
    package var word: String { self == .client ? "client" : "server" }

    package init?(word: String) {
        guard let side = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = side
    }
}
