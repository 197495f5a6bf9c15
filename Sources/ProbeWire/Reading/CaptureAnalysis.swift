/// Takes captured packets, from a file or live, all the way into connections: decodes them, joins fragments, and counts what
/// is not TCP or cannot be decoded.
package struct CaptureAnalysis: Sendable {
    package private(set) var table: ConversationTable
    package private(set) var packetCount = 0
    package private(set) var tcpPacketCount = 0
    package private(set) var undecodableCount = 0
    /// Of the first packet that could not be decoded.
    package private(set) var firstError: (index: Int, error: PacketError)?
    private var fragments = FragmentReassembler()

    package init(limits: ConversationLimits = .live) {
        table = ConversationTable(limits: limits)
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
                return table.add(tcp, payload: bytes.extracting(tcp.payload), time: time, index: index)
            case .fragment(let fragment):
                let whole = fragments.add(fragment, payload: bytes.extracting(fragment.payload), time: time)
                guard let whole,
                    case .tcp(let tcp) = try PacketDecoder.decode(
                        reassembled: whole.bytes.span, of: whole.header, length: whole.length)
                else { return nil }
                tcpPacketCount += 1
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

    /// No more packets will come: what waited behind gaps joins its stream, and the gaps are reported.
    package mutating func finish() {
        table.finish()
    }
}
