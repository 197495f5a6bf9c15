package import ProbeBase
package import ProbeWire

/// The conditions that select the flows to show. The number of a flow does not depend on the filter.
package struct ConnectionFilter: Sendable {
    package var number: Int?
    /// The hosts of which at least one must be an endpoint of the flow; empty to include all flows.
    package var hosts: [IPAddress]
    package var ports: [UInt16]
    /// The numbers of the flows that meet the `ConnectionCriteria`; `nil` to include all flows.
    package var numbers: Set<Int>?
    /// The `ConnectionCriteria` as text, for messages.
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

    /// Returns whether the flow at `position` is included. The position of a flow is also its number.
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

    /// A description of the filter, such as `host 10.0.0.1, port 80`, for the message that no flow matches.
    package var text: String {
        var words: [String] = []
        if let number { words.append("flow \(number)") }
        words += hosts.map { "host \($0)" }
        words += ports.map { "port \($0)" }
        if !criteria.isEmpty { words.append((number == nil ? "flow " : "") + criteria.joined(separator: ", ")) }
        return words.joined(separator: ", ")
    }
}
