package import ProbeBase

/// The names of the two ends of a connection in the texts of a verdict, and the origin of the times in these texts.
package struct SideNames: Sendable, Hashable {
    package var client: String
    package var server: String
    /// The time that the texts show as 0, in nanoseconds since 1970; if it is `nil`, times are relative to the
    /// connection's first packet.
    package var origin: UInt64?

    package init(client: String, server: String, origin: UInt64? = nil) {
        self.client = client
        self.server = server
        self.origin = origin
    }

    package static let plain = SideNames(client: "the client", server: "the server")

    package subscript(side: ConversationSide) -> String {
        side == .client ? client : server
    }
}
