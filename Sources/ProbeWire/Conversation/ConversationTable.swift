/// Sorts packets into connections, in the order of their first packets.
///
/// Made for one case of a run, or for one capture file: it grows with the connections that it is given.
package struct ConversationTable: Sendable {
    package private(set) var conversations: [Conversation] = []
    private var latest: [Key: Int] = [:]
    /// The memory for all connections together was used up: some streams are not kept whole, or have gaps for it.
    package private(set) var hasReachedTotal = false
    private var packetCount = 0
    private var heldBytes = 0
    private let limits: ConversationLimits

    /// Both directions of a connection have the same one.
    private struct Key: Hashable {
        var lower: SocketEndpoint
        var upper: SocketEndpoint

        init(_ a: SocketEndpoint, _ b: SocketEndpoint) {
            (lower, upper) = a < b ? (a, b) : (b, a)
        }

        /// Each connection of IPv4 fits into two words: this is done for every packet.
        func hash(into hasher: inout Hasher) {
            hasher.combine(lower.address.low << 32 ^ upper.address.low)
            hasher.combine(UInt32(lower.port) << 16 | UInt32(upper.port))
            if lower.address.family == .v6 {
                hasher.combine(lower.address.low)
                hasher.combine(lower.address.high)
                hasher.combine(upper.address.high)
            }
        }
    }

    package init(limits: ConversationLimits = .live) {
        self.limits = limits
    }

    /// Decodes a captured packet and adds it; nil for everything that is no whole TCP segment.
    @discardableResult
    package mutating func add(_ packet: CapturedPacket, linkType: LinkType) throws(PacketError) -> PacketSummary? {
        guard case .tcp(let tcp) = try packet.decoded(linkType: linkType) else { return nil }
        return add(tcp, payload: packet.bytes.span.extracting(tcp.payload), time: packet.time)
    }

    /// The summary's `packetIndex` counts the packets that were added here; `index` replaces it.
    @discardableResult
    package mutating func add(
        _ tcp: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int? = nil
    ) -> PacketSummary {
        let position = conversationIndex(for: tcp)
        defer { packetCount += 1 }
        let before = conversations[position].heldBytes
        var summary = conversations[position].add(tcp, payload: payload, time: time, index: index ?? packetCount)
        heldBytes += conversations[position].heldBytes - before
        if heldBytes > limits.totalBytes {
            let held = conversations[position].heldBytes
            summary.hasReachedLimit = summary.hasReachedLimit || !hasReachedTotal
            hasReachedTotal = true
            conversations[position].release(summary.side)
            heldBytes += conversations[position].heldBytes - held
        }
        return summary
    }

    /// The connections between two endpoints, whoever is the client, oldest first.
    package func indices(between a: SocketEndpoint, and b: SocketEndpoint) -> [Int] {
        guard latest[Key(a, b)] != nil else { return [] }
        return conversations.indices.filter {
            let conversation = conversations[$0]
            return (conversation.client == a && conversation.server == b)
                || (conversation.client == b && conversation.server == a)
        }
    }

    /// The last connection between two endpoints.
    package func latestIndex(between a: SocketEndpoint, and b: SocketEndpoint) -> Int? {
        latest[Key(a, b)]
    }

    /// No more packets will come.
    package mutating func finish() {
        for index in conversations.indices { conversations[index].finish() }
    }

    private mutating func conversationIndex(for tcp: DecodedTCP) -> Int {
        let key = Key(tcp.source, tcp.destination)
        if let index = latest[key], !tcp.isSYN || !conversations[index].isFollowed(by: tcp) { return index }
        let isFromServer = tcp.flags.isSuperset(of: [.syn, .ack])
        let conversation = Conversation(
            client: isFromServer ? tcp.destination : tcp.source, server: isFromServer ? tcp.source : tcp.destination,
            number: conversations.count, limits: limits)
        conversations.append(conversation)
        latest[key] = conversations.count - 1
        return conversations.count - 1
    }
}

extension Conversation {
    /// A packet with these endpoints opens another connection: its SYN has another sequence number than this one's.
    func isFollowed(by tcp: DecodedTCP) -> Bool {
        guard tcp.isSYN else { return false }
        let side: ConversationSide = tcp.source == client ? .client : .server
        let sender = flow(from: side)
        if tcp.flags.contains(.ack) {
            // The answer to this connection's SYN, even after a reset that someone else put in.
            let isAnswer = flow(from: side.opposite).initialSequence.map { $0 + 1 == tcp.acknowledgment } ?? false
            if !isClosed || (isAnswer && sender.hasOnlyAcknowledged) { return false }
        }
        guard let base = sender.base else {
            // Only the other side was captured so far. Its SYN or SYN-ACK may have overtaken this SYN; its data cannot have.
            let other = flow(from: side.opposite)
            return other.segmentCount > 0 || isClosed
        }
        if sender.hasOnlyAcknowledged, !isClosed { return false }
        return tcp.sequence + 1 != base
    }
}
