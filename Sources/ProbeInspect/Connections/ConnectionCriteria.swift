package import ProbeWire

/// Criteria for flows that can be evaluated only after the entire flow has been read.
package struct ConnectionCriteria: Sendable {
    /// The traits of which the flow must have at least one; empty to include all flows.
    package var traits: [ConnectionTrait]
    /// The time at or after which the flow must have begun; `nil` to include all flows.
    package var since: StartTime?

    package init(traits: [ConnectionTrait] = [], since: StartTime? = nil) {
        self.traits = traits
        self.since = since
    }

    package var isOpen: Bool { traits.isEmpty && since == nil }

    /// Returns the filter, restricted to the flows that meet the criteria.
    package func applied(to filter: ConnectionFilter, in inspection: borrowing Inspection) -> ConnectionFilter {
        if isOpen { return filter }
        let conversations = inspection.analysis.table.conversations
        let first = conversations.indices.lazy.compactMap { conversations[$0].firstTime }.min() ?? 0
        let start = since?.nanoseconds(first: first) ?? 0
        var numbers: Set<Int> = []
        for number in conversations.indices where filter.includes(number, of: conversations) {
            let counts =
                number < inspection.anomalies.count ? inspection.anomalies[number] : ConnectionAnomalies()
            guard (conversations[number].firstTime ?? 0) >= start else { continue }
            if traits.isEmpty || traits.contains(where: { $0.isTrue(of: conversations[number], counts) }) {
                numbers.insert(number)
            }
        }
        var filter = filter
        filter.numbers = numbers
        filter.criteria = traits.map { "with \($0.rawValue)" } + (since.map { ["since \($0.text)"] } ?? [])
        return filter
    }
}

/// The order in which flows are shown.
package enum ConnectionOrder: String, Sendable, CaseIterable {
    /// `start` orders flows by the time at which they began; the other orders show the largest value first.
    case start, bytes, packets, duration
    // The following orders show the slowest flow first.
    case firstByte = "first-byte"
    case longestPause = "longest-pause"

    package var isTiming: Bool { self == .firstByte || self == .longestPause }

    /// Sorts the numbers of flows by this order. Equal flows are sorted by their numbers.
    package func sorted(
        _ numbers: [Int], of conversations: ConversationList, _ timings: [ConnectionTiming] = []
    ) -> [Int] {
        let keys = numbers.map { number -> (key: Int64, number: Int) in
            (key(conversations[number], number < timings.count ? timings[number] : nil), number)
        }
        return keys.sorted { ($0.key, $0.number) < ($1.key, $1.number) }.map(\.number)
    }

    private func key(_ conversation: borrowing Conversation, _ timing: ConnectionTiming?) -> Int64 {
        switch self {
        case .start: Int64(clamping: conversation.firstTime ?? 0)
        case .bytes:
            -(conversation.fromClient.stream.deliveredLength + conversation.fromServer.stream.deliveredLength)
        case .packets: -Int64(conversation.packetCount)
        case .duration: -conversation.duration
        // A flow without a response, or without a pause, is sorted last.
        case .firstByte: timing?.firstByte.map { -$0 } ?? Int64.max
        case .longestPause: timing?.longestPause.map { -$0.duration } ?? Int64.max
        }
    }
}
