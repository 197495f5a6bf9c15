package import ProbeWire

/// Which flows are shown. A flow keeps its number, whatever the filter.
package struct FlowFilter: Sendable {
    package var number: Int?
    /// One of them is an end of the flow; empty for any.
    package var hosts: [IPAddress]
    package var ports: [UInt16]

    package init(number: Int? = nil, hosts: [IPAddress] = [], ports: [UInt16] = []) {
        self.number = number
        self.hosts = hosts
        self.ports = ports
    }

    package var isOpen: Bool { number == nil && hosts.isEmpty && ports.isEmpty }

    package func includes(_ conversation: borrowing Conversation) -> Bool {
        if isOpen { return true }
        if let number, conversation.number != number { return false }
        let ends = [conversation.client, conversation.server]
        if !hosts.isEmpty, !ends.contains(where: { hosts.contains($0.address) }) { return false }
        return ports.isEmpty || ends.contains { ports.contains($0.port) }
    }

    /// The words that were given, for a message that nothing matched.
    package var text: String {
        var words: [String] = []
        if let number { words.append("flow \(number)") }
        words += hosts.map { "host \($0)" }
        words += ports.map { "port \($0)" }
        return words.joined(separator: ", ")
    }
}
