package import ProbeBase
package import ProbeWire

/// The flows that are shown. The number of a flow does not depend on the filter.
package struct ConnectionFilter: Sendable {
    package var number: Int?
    /// At least one of these hosts must be an endpoint of the flow; empty for any.
    package var hosts: [IPAddress]
    package var ports: [UInt16]
    /// The flows that meet the criteria for which the whole capture must be read; `nil` for any.
    package var numbers: Set<Int>?
    /// These criteria as text, for messages.
    package var criteria: [String] = []

    package init(number: Int? = nil, hosts: [IPAddress] = [], ports: [UInt16] = []) {
        self.number = number
        self.hosts = hosts
        self.ports = ports
    }

    package var isOpen: Bool { number == nil && hosts.isEmpty && ports.isEmpty && numbers == nil }

    package func includes(_ conversation: borrowing Conversation) -> Bool {
        isOpen || includes(conversation.number, conversation.client, conversation.server)
    }

    /// Returns whether the flow at this position is included. The flow is read in place; its number is its position.
    package func includes(_ position: Int, of conversations: borrowing ConversationList) -> Bool {
        if isOpen { return true }
        let ends = conversations.endpoints(at: position)
        return includes(position, ends.client, ends.server)
    }

    private func includes(_ position: Int, _ client: SocketEndpoint, _ server: SocketEndpoint) -> Bool {
        if let number, position != number { return false }
        if let numbers, !numbers.contains(position) { return false }
        let ends = [client, server]
        if !hosts.isEmpty, !ends.contains(where: { hosts.contains($0.address) }) { return false }
        return ports.isEmpty || ends.contains { ports.contains($0.port) }
    }

    /// The filter as the user wrote it, for the message that nothing matched.
    package var text: String {
        var words: [String] = []
        if let number { words.append("flow \(number)") }
        words += hosts.map { "host \($0)" }
        words += ports.map { "port \($0)" }
        if !criteria.isEmpty { words.append((number == nil ? "flow " : "") + criteria.joined(separator: ", ")) }
        return words.joined(separator: ", ")
    }
}
