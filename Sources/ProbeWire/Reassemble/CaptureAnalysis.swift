package import ProbeBase

/// Takes captured packets, from a file or live, all the way into connections: decodes them, joins fragments, and counts what
/// is not TCP or cannot be decoded.
package struct CaptureAnalysis: Sendable {
    package internal(set) var table: ConversationTable
    /// With a share, the packets of its own connections; what is of no connection is share 0's.
    package internal(set) var packetCount = 0
    package internal(set) var tcpPacketCount = 0
    package internal(set) var undecodableCount = 0
    /// The packets that are no segments of a flow, by what they are.
    package internal(set) var others = OtherPackets()
    /// TCP packets of connections beyond `ConversationLimits.mostConversations`.
    package internal(set) var unfollowedCount = 0
    /// Of the first packet that could not be decoded.
    package internal(set) var firstError: (index: Int, error: PacketError)?
    /// Packets that the capture holds a second time.
    package internal(set) var copyCount = 0
    var recent = RecentPackets()
    private var fragments = FragmentReassembler()

    private let tunnels: TunnelReading
    /// Errors that ICMP reported about segments, the first ones of each flow.
    package internal(set) var icmpErrors = ICMPErrors()

    /// Which connections it follows.
    let share: ConnectionShare

    /// With a share, `limits` holds for it alone.
    package init(
        limits: ConversationLimits = .live, share: ConnectionShare = .all, tunnels: TunnelReading = .opened
    ) {
        self.share = share
        self.tunnels = tunnels
        table = ConversationTable(limits: limits)
    }

    /// A segment of this share; nil where there is no room for its connection.
    private mutating func add(_ tcp: DecodedTCP, of bytes: Span<UInt8>, time: UInt64, index: Int) -> PacketSummary? {
        packetCount += 1
        guard follows(tcp) else { return nil }
        let payload = bytes.extracting(tcp.payload)
        if let certainty = recent.note(tcp, time: time),
            let copy = table.takeCopy(tcp, certainty, payload: payload, time: time, index: index)
        {
            copyCount += 1
            return copy
        }
        return table.add(tcp, payload: payload, time: time, index: index)
    }

    /// What the packet means; nil for one that is no whole TCP segment, or another share's.
    @discardableResult
    package mutating func add(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        var isOwn = share.number == 0
        if share.count > 1, let ends = FastPathSegment.Ends(bytes, linkType: linkType) {
            isOwn = share.contains(hash: ends.hash)
            // As on the fast path: another share counts this packet, and its error.
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
            // What was in fragments may be a tunnel, with fragments of another datagram in it.
            var whole: FragmentReassembler.Datagram?
            for _ in 0..<PacketExtent.mostTunnels {
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
                return table.add(tcp, payload: whole.bytes.span.extracting(tcp.payload), time: time, index: index)
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

    /// Counts a packet that is no TCP segment.
    private mutating func note(_ packet: DecodedPacket, isOwn: Bool, time: UInt64, index: Int) {
        if case .icmp(let error) = packet {
            if isOwn { others.note(.ip(error.isV6 ? 58 : 1)) }
            guard share.contains(error.source, error.destination),
                let position = table.latestIndex(between: error.source, and: error.destination)
            else { return }
            icmpErrors.add(error, to: position, of: table.conversations, time: time, index: index)
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

    /// The packets that may hold segments of any flow and could not be read, as a sentence; nil if there are none. No statement about a flow
    /// is certain then.
    package var unread: String? { sentence(\.isUnread) }

    /// As `unread`, with the packets that may hold flows of which nothing can be seen: for statements about a capture without a flow.
    package var unreadOrHidden: String? { sentence { $0.isUnread || $0.isHidden } }

    private func sentence(_ isIncluded: (OtherPacket) -> Bool) -> String? {
        others.text(isIncluded).map { "packets of the capture could not be read: \($0)" }
    }

    /// As `ICMPErrors.takeLast`.
    package mutating func takeICMPError() -> (conversation: Int, report: ICMPErrors.Report)? { icmpErrors.takeLast() }

    /// As `ConversationTable.takeParts`.
    package mutating func takeParts(of conversation: Int, from side: ConversationSide) -> [StreamPart] {
        table.takeParts(of: conversation, from: side)
    }

    /// As `ConversationTable.takeRelieved`.
    package mutating func takeRelieved() -> [Int] { table.takeRelieved() }

    /// Counts a TCP packet, and says whether there is room for its connection.
    private mutating func follows(_ tcp: DecodedTCP) -> Bool {
        tcpPacketCount += 1
        let hasRoom = table.hasRoom(for: tcp)
        if !hasRoom { unfollowedCount += 1 }
        return hasRoom
    }

    /// No more packets will come: what waited behind gaps joins its stream, and the gaps are reported.
    package mutating func finish() {
        if share.number == 0 { others.recount(fragments.takeUnjoined(), from: .fragment, as: .lonelyFragment) }
        table.finish()
    }
}
