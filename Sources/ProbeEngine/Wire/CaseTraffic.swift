import ProbeBase
import ProbeCapture
import ProbeWire

/// The captured packets of one case, and the connections to which the packets belong.
struct CaseTraffic {
    struct Entry {
        var packet: CapturedPacket
        /// The decoded segment; `nil` if the packet is not a TCP segment.
        var summary: PacketSummary?
        /// The range of the payload in the packet's bytes.
        var payload: Range<Int>

        /// The connection end that sent the packet.
        var sender: WireEnd? { summary.map { WireEnd(index: $0.conversation, side: $0.side) } }
    }

    private(set) var entries: [Entry] = []
    private(set) var table = ConversationTable()
    /// The SYN of each connection in `table`.
    private(set) var openings: [WireBinding.Opening] = []
    /// For each connection number that the capture has assigned, the index of the connection in `table`.
    private var positions: [Int: Int] = [:]
    /// For each connection in `table`, the number that the capture has assigned to the connection.
    private(set) var numbers: [Int] = []

    subscript(conversation index: Int) -> Conversation { table.conversations[index] }

    /// Returns the index in `table` of the connection with the given number in the capture; `nil` if there are no
    /// packets of this connection.
    func position(of number: Int) -> Int? { positions[number] }

    mutating func add(_ received: ConnectionPacket, _ linkType: LinkType) {
        let packet = received.packet
        var entry = Entry(packet: packet, summary: nil, payload: 0..<0)
        do throws(PacketError) {
            if case .tcp(let segment) = try packet.decoded(linkType: linkType) {
                entry.payload = segment.payload
                let position = positions[received.connection] ?? open(received, segment)
                entry.summary = table.add(
                    segment, payload: packet.bytes.span.extracting(segment.payload), time: packet.time, to: position)
            }
        } catch {
            // A packet that can't be decoded is kept for the capture file, but belongs to no connection.
            entry.summary = nil
        }
        entries.append(entry)
    }

    private mutating func open(_ received: ConnectionPacket, _ segment: DecodedTCP) -> Int {
        let position = table.open(for: segment)
        positions[received.connection] = position
        numbers.append(received.connection)
        openings.append(
            WireBinding.Opening(
                client: table.conversations[position].client, server: table.conversations[position].server,
                sequence: segment.sequence, time: received.packet.time))
        return position
    }
}
