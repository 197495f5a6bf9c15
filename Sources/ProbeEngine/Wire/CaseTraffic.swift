import ProbeBase
import ProbeCapture
import ProbeWire

/// The captured packets of one case, and the connections that they make up. Pure.
struct CaseTraffic {
    struct Entry {
        var packet: CapturedPacket
        /// `nil` if the packet is not a TCP segment.
        var summary: PacketSummary?
        /// The range of the payload in the packet's bytes.
        var payload: Range<Int>

        /// The end of a connection that sent the packet.
        var sender: WireEnd? { summary.map { WireEnd(index: $0.conversation, side: $0.side) } }
    }

    private(set) var entries: [Entry] = []
    private(set) var table = ConversationTable()
    /// The SYN of each connection in `table`.
    private(set) var openings: [WireBinding.Opening] = []
    /// The positions of connections in `table`, by the capture's numbers.
    private var positions: [Int: Int] = [:]
    /// The capture's number of each connection in `table`.
    private(set) var numbers: [Int] = []

    subscript(conversation index: Int) -> Conversation { table.conversations[index] }

    /// Returns the position in `table` of the connection with this number; `nil` if it has no packet here.
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
            // A packet that can't be decoded is kept for the file, and belongs to no connection.
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
