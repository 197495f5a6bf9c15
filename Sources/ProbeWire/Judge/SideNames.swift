/// What the two ends of a connection are called in the texts of a verdict.
package struct SideNames: Sendable, Hashable {
    package var client: String
    package var server: String

    package init(client: String, server: String) {
        self.client = client
        self.server = server
    }

    package static let plain = SideNames(client: "the client", server: "the server")

    package subscript(side: ConversationSide) -> String {
        side == .client ? client : server
    }
}
