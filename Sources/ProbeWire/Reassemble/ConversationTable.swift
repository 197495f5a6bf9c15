package import ProbeBase

/// Assigns packets to connections, which are kept in the order of their first packets.
///
/// Use a table for a single case of a run or for a single capture file, because it grows with the number of
/// connections.
package struct ConversationTable: Sendable {
    package internal(set) var conversations = ConversationList()
    /// An index that finds the most recent connection between two endpoints. It is invalid once `isMerged` is set.
    var latest = ConnectionIndex()
    private var isMerged = false
    let hash = ConnectionHash()
    /// Whether a limit for all connections together was reached: the limit on their memory (`hasUsedUpMemory`) or on
    /// their number.
    package private(set) var hasReachedTotal = false
    /// Whether some streams were not kept completely, or have gaps, because the memory for all connections was used up.
    package private(set) var hasUsedUpMemory = false
    /// Whether bytes arrived for gaps that had already been skipped. With a more patient `GapTolerance`, the streams
    /// would contain these bytes.
    package var hasLateBytes: Bool { conversations.contains { $0.hasLateBytes } }
    /// The connections whose endpoints were reused by a later connection for which there was no room. Packets of the
    /// later connection can't be distinguished from packets of the earlier connection.
    var superseded: Set<Int> = []
    var packetCount = 0
    var heldBytes = 0
    /// The maximum number of bytes that all streams together held in memory at the same time.
    package internal(set) var peakHeldBytes = 0
    /// The connections that skipped gaps because a packet of another connection used up the memory. Recorded only if
    /// `ConversationLimits.deliversParts` is set.
    private var withReleasedParts: [Int] = []
    private var sweepPosition = 0
    private var nextSweep = 0
    let limits: ConversationLimits
    /// The screen that the packets pass through; `nil` unless the flows are screened.
    package internal(set) var screen: FlowScreen?
    /// The initial flow, of which each new flow is a copy.
    private let blank: HalfConnection

    package init(limits: ConversationLimits = .live) {
        self.limits = limits
        blank = HalfConnection(limits: limits)
    }

    /// Decodes and adds a captured packet. Returns `nil` if the packet is not a complete TCP segment.
    @discardableResult
    package mutating func add(_ packet: CapturedPacket, linkType: LinkType) throws(PacketError) -> PacketSummary? {
        guard case .tcp(let tcp) = try packet.decoded(linkType: linkType) else { return nil }
        return add(tcp, payload: packet.bytes.span.extracting(tcp.payload), time: packet.time)
    }

    /// Adds a segment. If `index` is `nil`, the summary's `packetIndex` is the number of packets that were previously
    /// added to this table.
    @discardableResult
    package mutating func add(
        _ tcp: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int? = nil
    ) -> PacketSummary {
        add(tcp, payload: payload, time: time, index: index, to: conversationIndex(for: tcp))
    }

    /// The flows that the screen suspects, so that they must be examined; `nil` if all flows must be.
    package var suspects: FlowSelection? { screen.flatMap { $0.suspects(among: conversations) } }

    /// Passes a packet that has been added to the screen, if there is one.
    @inline(__always)
    mutating func noteInScreen(_ summary: PacketSummary, _ tcp: DecodedTCP?, _ payload: Span<UInt8>) {
        guard screen != nil else { return }
        screen?.note(summary, tcp, payload: payload, of: conversations[summary.conversation])
    }

    /// Adds a segment to the connection at `position`, whose endpoints must be those of the segment.
    @discardableResult
    package mutating func add(
        _ tcp: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int? = nil, to position: Int
    ) -> PacketSummary {
        defer { packetCount += 1 }
        let before = conversations.heldBytes(at: position)
        var summary = conversations[position].add(tcp, payload: payload, time: time, index: index ?? packetCount)
        heldBytes += conversations.heldBytes(at: position) - before
        peakHeldBytes = max(peakHeldBytes, heldBytes)
        if heldBytes > limits.totalBytes { releaseMemory(position) }
        if heldBytes > limits.totalBytes {
            summary.hasReachedLimit = summary.hasReachedLimit || !hasReachedTotal
            hasReachedTotal = true
            hasUsedUpMemory = true
            change(position) { $0.release(summary.side) }
        }
        return summary
    }

    /// Frees memory when the limit for all connections is exceeded. Connections stop waiting for missing bytes that the
    /// peer has acknowledged, starting with the connection at `position`.
    private mutating func releaseMemory(_ position: Int) {
        change(position) { $0.giveUpReceived() }
        guard heldBytes > limits.totalBytes, packetCount >= nextSweep else { return }
        let enough = limits.totalBytes / 4 * 3
        var looked = 0
        while heldBytes > enough, looked < conversations.count {
            sweepPosition = sweepPosition + 1 < conversations.count ? sweepPosition + 1 : 0
            looked += 1
            guard conversations.hasWaiting(at: sweepPosition) else { continue }
            change(sweepPosition) { $0.giveUpReceived() }
            if limits.deliversParts { withReleasedParts.append(sweepPosition) }
        }
        // If too little memory was freed, the next attempt is not made at the next packet but after many more packets.
        if heldBytes > enough { nextSweep = packetCount + conversations.count }
    }

    private mutating func change(_ position: Int, _ body: (inout Conversation) -> Void) {
        let before = conversations.heldBytes(at: position)
        body(&conversations[position])
        heldBytes += conversations.heldBytes(at: position) - before
    }

    /// Returns the connections, other than the last packet's connection, for which `takeParts` may return parts.
    package mutating func takeConversationsWithReleasedParts() -> [Int] {
        if withReleasedParts.isEmpty { return [] }
        defer { withReleasedParts = [] }
        return withReleasedParts
    }

    /// Returns the parts of one direction's stream that have been put in order since the last call, if
    /// `ConversationLimits.deliversParts` is set.
    package mutating func takeParts(of conversation: Int, from side: ConversationSide) -> [StreamPart] {
        conversations[conversation].takeParts(from: side)
    }

    /// Returns the connections between two endpoints, in either direction, oldest first.
    package func indices(between a: SocketEndpoint, and b: SocketEndpoint) -> [Int] {
        guard latestIndex(between: a, and: b) != nil else { return [] }
        return conversations.indices.filter { conversations.isBetween(a, b, at: $0) }
    }

    /// Returns the most recent connection between two endpoints.
    package func latestIndex(between a: SocketEndpoint, and b: SocketEndpoint) -> Int? {
        if isMerged { return conversations.indices.last { conversations.isBetween(a, b, at: $0) } }
        return latest.position(of: hash(a, b)) { conversations.isBetween(a, b, at: $0) }
    }

    /// Ends all connections after the last packet.
    package mutating func finish() {
        for index in conversations.indices { conversations[index].finish() }
    }

    private var isFull: Bool { conversations.count >= limits.maxConversations }

    /// Returns whether there is room for the connection that a packet belongs to.
    mutating func hasRoom(for tcp: DecodedTCP) -> Bool {
        guard isFull else { return true }
        if let known = latestIndex(between: tcp.source, and: tcp.destination) {
            guard superseded.contains(known) || (tcp.isSYN && conversations.isFollowed(by: tcp, at: known)) else {
                return true
            }
            superseded.insert(known)
        }
        hasReachedTotal = true
        return false
    }

    /// Merges the connections of another table, to which other packets of the same capture were added. Both tables must
    /// have finished, and no more packets may be added.
    ///
    /// - Returns: the new number of each connection, indexed by its old number, for the connections of this table and
    ///   of `other`.
    mutating func merge(_ other: consuming ConversationTable) -> (own: [Int], other: [Int]) {
        var others = ConversationList()
        swap(&others, &other.conversations)
        // The list is consumed, because all connections would be copied if it had two owners.
        let numbers = conversations.merge(consume others)
        if let screened = other.screen { screen?.merge(screened, numbers) }
        packetCount += other.packetCount
        heldBytes += other.heldBytes
        hasReachedTotal = hasReachedTotal || other.hasReachedTotal
        hasUsedUpMemory = hasUsedUpMemory || other.hasUsedUpMemory
        isMerged = true
        return numbers
    }

    private mutating func conversationIndex(for tcp: DecodedTCP) -> Int {
        let own = hash(tcp.source, tcp.destination)
        let known = latest.position(of: own) { conversations.isBetween(tcp.source, tcp.destination, at: $0) }
        if let known, isFull || !tcp.isSYN || !conversations.isFollowed(by: tcp, at: known) { return known }
        return open(for: tcp, hash: own, known: known)
    }

    /// Opens a new connection with a segment's endpoints, even if there is already a connection between these
    /// endpoints. This function is for callers that distinguish connections themselves and add packets by position.
    package mutating func open(for tcp: DecodedTCP) -> Int {
        let own = hash(tcp.source, tcp.destination)
        let known = latest.position(of: own) { conversations.isBetween(tcp.source, tcp.destination, at: $0) }
        return open(for: tcp, hash: own, known: known)
    }

    private mutating func open(for tcp: DecodedTCP, hash own: UInt64, known: Int?) -> Int {
        let isFromServer =
            tcp.isSYN ? tcp.flags.contains(.ack) : Self.isServer(tcp.source.port, to: tcp.destination.port)
        conversations.append(
            Conversation(
                client: isFromServer ? tcp.destination : tcp.source,
                server: isFromServer ? tcp.source : tcp.destination,
                number: conversations.count, blank: blank))
        let index = conversations.count - 1
        if let known {
            screen?.suspect(known, .others)
            screen?.suspect(index, .others)
            latest.replace(known, by: index, hash: own)
        } else {
            latest.insert(index, hash: own) {
                let ends = conversations.endpoints(at: $0)
                return hash(ends.client, ends.server)
            }
        }
        return index
    }

    /// Returns whether the numbers of the ports show that the first one is the server's, for a connection whose
    /// beginning was not captured. Servers listen on well-known ports, or at least on ports below those from which
    /// systems choose the ports of clients: from 32768 (Linux) or from 49152 (RFC 6335, section 6). Clients of NFS use
    /// ports below 1024, too. If the numbers show nothing, the sender of the first packet is taken for the client.
    private static func isServer(_ port: UInt16, to other: UInt16) -> Bool {
        let nfs: UInt16 = 2_049
        if port == nfs || other == nfs { return port == nfs && other != nfs }
        return (port < 1_024 && other >= 1_024) || (port < 32_768 && other >= 32_768)
    }
}

extension ConversationList {
    /// Returns whether a packet with the same endpoints opens another connection. A SYN opens another connection if its
    /// sequence number differs from its sender's initial sequence number in the connection at `position`.
    func isFollowed(by tcp: DecodedTCP, at position: Int) -> Bool {
        guard tcp.isSYN else { return false }
        let (sender, receiver, isClosed) = opening(at: position, from: tcp.source)
        if tcp.flags.contains(.ack) {
            // A SYN-ACK that answers this connection's SYN belongs to this connection, even after a reset that a third
            // party injected, or after the connection's end.
            let isAnswer = receiver.initialSequence.map { $0 + 1 == tcp.acknowledgment } ?? false
            if !isClosed || isAnswer { return false }
        }
        guard let base = sender.base else {
            // Only packets of the other side have been captured so far. The other side's SYN or SYN-ACK may have
            // overtaken this SYN, but its data cannot have.
            return receiver.segmentCount > 0 || isClosed
        }
        if sender.hasOnlyAcknowledged, !isClosed { return false }
        return tcp.sequence + 1 != base
    }
}
