/// An end of a TCP connection: `client` sent the SYN (or, where none was seen, spoke first).
package enum ConversationSide: Sendable, Hashable, CaseIterable {
    case client, server

    package var opposite: ConversationSide { self == .client ? .server : .client }

    /// As scripts and reports name it.
    package var word: String { self == .client ? "client" : "server" }

    package init?(word: String) {
        guard let side = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = side
    }
}
