/// A side of a TCP connection. The client is the side that sent the SYN or, if the SYN was not captured, the side that
/// sent first.
package enum ConversationSide: Sendable, Hashable, CaseIterable {
    case client, server

    package var opposite: ConversationSide { self == .client ? .server : .client }

    /// The name of the side in scripts and reports.
    package var word: String { self == .client ? "client" : "server" }

    package init?(word: String) {
        guard let side = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = side
    }
}
