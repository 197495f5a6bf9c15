/// Takes captured packets, from a file or live, all the way into connections: decodes them, joins fragments, and counts what
/// is not TCP or cannot be decoded.
package struct CaptureAnalysis: Sendable {
    package private(set) var table: ConversationTable
    package private(set) var packetCount = 0
    package private(set) var tcpPacketCount = 0
    package private(set) var undecodableCount = 0
    /// TCP packets of connections beyond `ConversationLimits.mostConversations`.
    package private(set) var unfollowedCount = 0
    /// Of the first packet that could not be decoded.
    package private(set) var firstError: (index: Int, error: PacketError)?
    private var fragments = FragmentReassembler()

    package init(limits: ConversationLimits = .live) {
        table = ConversationTable(limits: limits)
    }

    /// Takes the next bytes of a file, as `reader` reads them. `unusual` sees the packets of which there is something to tell: that
    /// is all but those that bring data in order, or acknowledge some, and nothing else.
    package mutating func pass(
        _ chunk: Span<UInt8>, through reader: inout CaptureFileReader, unusual: (CaptureRecord, PacketSummary) -> Void
    ) throws(CaptureFileError) {
        try reader.feed(chunk, looksAhead: true, ahead: { bytes in anticipate(bytes) }) { record, bytes in
            let summary = pass(
                bytes, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                index: record.index)
            if let summary { unusual(record, summary) }
        }
    }

    /// A packet that will come soon: what it needs is fetched. Changes nothing.
    @inline(__always)
    private mutating func anticipate(_ bytes: Span<UInt8>) {
        if let (source, destination) = PlainSegment.endpoints(bytes) { table.anticipate(source, destination) }
    }

    /// As `add`, for whoever asks only for what is unusual: nil also for a packet that brings data in order, or acknowledges some,
    /// and nothing else. Such packets are most of any capture and cost a fraction.
    @discardableResult
    @inline(__always)
    package mutating func pass(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        if table.hasAnticipated { table.fetchAnticipated() }
        if let segment = PlainSegment(bytes, linkType: linkType),
            table.addPlain(segment, payload: bytes.extracting(segment.payload), time: time, index: index)
        {
            packetCount += 1
            tcpPacketCount += 1
            return nil
        }
        return add(bytes, linkType: linkType, originalLength: originalLength, time: time, index: index)
    }

    /// What the packet means; nil for one that is no whole TCP segment.
    @discardableResult
    package mutating func add(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        packetCount += 1
        do throws(PacketError) {
            switch try PacketDecoder.decode(bytes, linkType: linkType, originalLength: originalLength) {
            case .tcp(let tcp):
                tcpPacketCount += 1
                guard follows(tcp) else { return nil }
                return table.add(tcp, payload: bytes.extracting(tcp.payload), time: time, index: index)
            case .fragment(let fragment):
                let whole = fragments.add(fragment, payload: bytes.extracting(fragment.payload), time: time)
                guard let whole,
                    case .tcp(let tcp) = try PacketDecoder.decode(
                        reassembled: whole.bytes.span, of: whole.header, length: whole.length)
                else { return nil }
                tcpPacketCount += 1
                guard follows(tcp) else { return nil }
                return table.add(tcp, payload: whole.bytes.span.extracting(tcp.payload), time: time, index: index)
            case .udp, .otherIP, .notIP:
                return nil
            }
        } catch {
            undecodableCount += 1
            if firstError == nil { firstError = (index, error) }
            return nil
        }
    }

    /// As `ConversationTable.takeParts`.
    package mutating func takeParts(of conversation: Int, from side: ConversationSide) -> [StreamPart] {
        table.takeParts(of: conversation, from: side)
    }

    private mutating func follows(_ tcp: DecodedTCP) -> Bool {
        let hasRoom = table.hasRoom(for: tcp)
        if !hasRoom { unfollowedCount += 1 }
        return hasRoom
    }

    /// No more packets will come: what waited behind gaps joins its stream, and the gaps are reported.
    package mutating func finish() {
        table.finish()
    }
}
