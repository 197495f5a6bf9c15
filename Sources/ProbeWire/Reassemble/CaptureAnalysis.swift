/// Takes captured packets, from a file or live, all the way into connections: decodes them, joins fragments, and counts what
/// is not TCP or cannot be decoded.
package struct CaptureAnalysis: Sendable {
    package internal(set) var table: ConversationTable
    /// With a share, the packets of its own connections; what is of no connection is share 0's.
    package internal(set) var packetCount = 0
    package internal(set) var tcpPacketCount = 0
    package internal(set) var undecodableCount = 0
    /// TCP packets of connections beyond `ConversationLimits.mostConversations`.
    package internal(set) var unfollowedCount = 0
    /// Of the first packet that could not be decoded.
    package internal(set) var firstError: (index: Int, error: PacketError)?
    private var fragments = FragmentReassembler()

    /// Which connections it follows.
    let share: ConnectionShare

    /// With a share, `limits` holds for it alone.
    package init(limits: ConversationLimits = .live, share: ConnectionShare = .all) {
        self.share = share
        table = ConversationTable(limits: limits)
    }

    /// A segment of this share; nil where there is no room for its connection.
    private mutating func add(_ tcp: DecodedTCP, of bytes: Span<UInt8>, time: UInt64, index: Int) -> PacketSummary? {
        packetCount += 1
        guard follows(tcp) else { return nil }
        return table.add(tcp, payload: bytes.extracting(tcp.payload), time: time, index: index)
    }

    /// What the packet means; nil for one that is no whole TCP segment, or another share's.
    @discardableResult
    package mutating func add(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        var isOwn = share.number == 0
        if share.count > 1, let ends = FastPathSegment.Ends(bytes, linkType: linkType) {
            isOwn = share.contains(ends.source, ends.destination)
            // As on the fast path: another share counts this packet, and its error.
            if !isOwn { return nil }
        }
        var isCounted = false
        do throws(PacketError) {
            switch try PacketDecoder.decode(bytes, linkType: linkType, originalLength: originalLength) {
            case .tcp(let tcp):
                guard share.contains(tcp.source, tcp.destination) else { return nil }
                return add(tcp, of: bytes, time: time, index: index)
            case .fragment(let fragment):
                if isOwn { packetCount += 1 }
                isCounted = true
                let whole = fragments.add(fragment, payload: bytes.extracting(fragment.payload))
                guard let whole,
                    case .tcp(let tcp) = try PacketDecoder.decode(
                        reassembled: whole.bytes.span, of: whole.header, length: whole.length)
                else { return nil }
                guard share.contains(tcp.source, tcp.destination), follows(tcp) else { return nil }
                return table.add(tcp, payload: whole.bytes.span.extracting(tcp.payload), time: time, index: index)
            case .udp, .otherIP, .notIP:
                if isOwn { packetCount += 1 }
                return nil
            }
        } catch {
            guard isOwn else { return nil }
            if !isCounted { packetCount += 1 }
            undecodableCount += 1
            if firstError == nil { firstError = (index, error) }
            return nil
        }
    }

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
        table.finish()
    }
}
