package import ProbeBase

/// Turns the packets of a capture file or of a live capture into connections. Decodes packets, reassembles fragments,
/// and counts the packets that are not TCP or cannot be decoded.
package struct CaptureAnalysis: Sendable {
    package internal(set) var table: ConversationTable
    /// The number of packets that belong to the share's connections. Packets that belong to no connection are counted
    /// by share 0.
    package internal(set) var packetCount = 0
    package internal(set) var tcpPacketCount = 0
    package internal(set) var undecodableCount = 0
    /// The number of packets that are not segments of a flow, by kind.
    package internal(set) var others = OtherPackets()
    /// The number of TCP packets of connections that were not followed because `ConversationLimits.maxConversations`
    /// had been reached.
    package internal(set) var unfollowedCount = 0
    /// The index of the first packet that could not be decoded, and its error.
    package internal(set) var firstError: (index: Int, error: PacketError)?
    /// The number of packets that are copies of a previously captured packet.
    package internal(set) var copyCount = 0
    var recent = RecentPackets()
    private var fragments = FragmentReassembler()

    private let tunnels: TunnelReading
    /// The ICMP errors about segments of flows. Only the first errors about each flow are kept.
    package internal(set) var icmpErrors = ICMPErrors()
    /// The last segment that `add` read; `nil` if it was reassembled from fragments. This is for observers of single
    /// packets.
    package private(set) var lastSegment: DecodedTCP?

    /// The connections that the analysis follows.
    let share: ConnectionShare

    /// Creates an analysis. If the analysis has only a share of the connections, `limits` applies to this share alone.
    ///
    /// - Parameter screens: whether the flows are screened (`ConversationTable.screen`).
    package init(
        limits: ConversationLimits = .live, share: ConnectionShare = .all, tunnels: TunnelReading = .opened,
        screens: Bool = false
    ) {
        self.share = share
        self.tunnels = tunnels
        table = ConversationTable(limits: limits)
        if screens { table.screen = FlowScreen() }
    }

    /// Adds a segment that belongs to this share. Returns `nil` if there is no room for its connection.
    private mutating func add(_ tcp: DecodedTCP, of bytes: Span<UInt8>, time: UInt64, index: Int) -> PacketSummary? {
        packetCount += 1
        lastSegment = tcp
        guard follows(tcp) else { return nil }
        let payload = bytes.extracting(tcp.payload)
        if let certainty = recent.note(tcp, time: time),
            let copy = table.takeCopy(tcp, certainty, payload: payload, time: time, index: index)
        {
            copyCount += 1
            table.noteInScreen(copy, tcp, payload)
            return copy
        }
        let summary = table.add(tcp, payload: payload, time: time, index: index)
        table.noteInScreen(summary, tcp, payload)
        return summary
    }

    /// Adds a packet and returns its role in its connection; `nil` if the packet is not a complete TCP segment, or
    /// belongs to another share.
    @discardableResult
    package mutating func add(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        var isOwn = share.number == 0
        if share.count > 1, let ends = FastPathSegment.Ends(bytes, linkType: linkType) {
            isOwn = share.contains(hash: ends.hash)
            // As on the fast path, the packet and any error in it are counted by the share that the packet belongs to.
            if !isOwn { return nil }
        }
        var isCounted = false
        do throws(PacketError) {
            var packet = try PacketDecoder.decode(
                bytes, linkType: linkType, originalLength: originalLength, tunnels: tunnels)
            if case .tcp(let tcp) = packet {
                guard share.contains(tcp.source, tcp.destination) else { return nil }
                return add(tcp, of: bytes, time: time, index: index)
            }
            if isOwn { packetCount += 1 }
            isCounted = true
            // A reassembled datagram may be a tunneled packet that contains a fragment of another datagram.
            var whole: FragmentReassembler.Datagram?
            for _ in 0..<PacketExtent.maxTunnels {
                guard case .fragment(let fragment) = packet else { break }
                let datagram =
                    if let whole {
                        fragments.add(fragment, payload: whole.bytes.span.extracting(fragment.payload))
                    } else {
                        fragments.add(fragment, payload: bytes.extracting(fragment.payload))
                    }
                guard let datagram else { break }
                packet = try PacketDecoder.decode(
                    reassembled: datagram.bytes.span, of: datagram.header, length: datagram.length, tunnels: tunnels)
                whole = datagram
            }
            if case .tcp(let tcp) = packet, let whole {
                guard share.contains(tcp.source, tcp.destination), follows(tcp) else { return nil }
                lastSegment = nil
                let payload = whole.bytes.span.extracting(tcp.payload)
                let summary = table.add(tcp, payload: payload, time: time, index: index)
                table.noteInScreen(summary, nil, payload)
                return summary
            }
            note(packet, isOwn: isOwn, time: time, index: index)
            return nil
        } catch {
            guard isOwn else { return nil }
            if !isCounted { packetCount += 1 }
            undecodableCount += 1
            others.note(OtherPacket(error))
            if firstError == nil { firstError = (index, error) }
            return nil
        }
    }

    /// Counts a packet that is not a TCP segment.
    private mutating func note(_ packet: DecodedPacket, isOwn: Bool, time: UInt64, index: Int) {
        if case .icmp(let error) = packet {
            if isOwn { others.note(.ip(error.isV6 ? 58 : 1)) }
            guard share.contains(error.source, error.destination),
                let position = table.latestIndex(between: error.source, and: error.destination)
            else { return }
            icmpErrors.add(error, to: position, of: table.conversations, time: time, index: index)
            table.screen?.noteICMPError(position, at: time)
            return
        }
        guard isOwn else { return }
        switch packet {
        case .tcp, .icmp: break
        case .fragment: others.note(.fragment)
        case .udp: others.note(.udp)
        case .otherIP(_, _, let number): others.note(.ip(number))
        case .notIP(let type): others.note(.frame(type))
        case .other(let other): others.note(other)
        }
    }

    /// A sentence about the unreadable packets that may contain segments of any flow; `nil` if there are none. If there
    /// are such packets, no statement about a flow is certain.
    package var unread: String? { sentence(\.isUnread) }

    /// Like `unread`, but also covers the packets that may belong to flows none of whose packets can be read. It is
    /// used for statements about a capture in which no flow was found.
    package var unreadOrHidden: String? { sentence { $0.isUnread || $0.isHidden } }

    private func sentence(_ isIncluded: (OtherPacket) -> Bool) -> String? {
        others.text(isIncluded).map { "some packets of the capture could not be read: \($0)" }
    }

    /// Calls `ICMPErrors.takeLast`.
    package mutating func takeICMPError() -> (conversation: Int, report: ICMPErrors.Report)? { icmpErrors.takeLast() }

    /// Calls `ConversationTable.takeParts`.
    package mutating func takeParts(of conversation: Int, from side: ConversationSide) -> [StreamPart] {
        table.takeParts(of: conversation, from: side)
    }

    /// Calls `ConversationTable.takeConversationsWithReleasedParts`.
    package mutating func takeConversationsWithReleasedParts() -> [Int] { table.takeConversationsWithReleasedParts() }

    /// Counts a TCP packet and returns whether there is room for its connection.
    private mutating func follows(_ tcp: DecodedTCP) -> Bool {
        tcpPacketCount += 1
        let hasRoom = table.hasRoom(for: tcp)
        if !hasRoom { unfollowedCount += 1 }
        return hasRoom
    }

    /// Ends the analysis after the last packet. Bytes that were waiting after gaps are added to their streams, and the
    /// gaps are reported.
    package mutating func finish() {
        if share.number == 0 {
            others.recount(fragments.takeIncompleteFragmentCount(), from: .fragment, as: .orphanedFragment)
        }
        table.finish()
    }
}
