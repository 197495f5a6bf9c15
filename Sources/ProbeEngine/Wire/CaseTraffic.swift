import ProbeBase
import ProbeCapture
import ProbeWire

/// The captured packets of one case, and the connections that they make up. Pure.
struct CaseTraffic {
    struct Entry {
        var packet: CapturedPacket
        /// nil for what is no TCP segment.
        var summary: PacketSummary?
        /// The payload in the packet's bytes.
        var payload: Range<Int>

        /// The end of a connection that sent it.
        var sender: WireEnd? { summary.map { WireEnd(index: $0.conversation, side: $0.side) } }
    }

    private(set) var entries: [Entry] = []
    private(set) var table = ConversationTable()
    /// Of each connection of `table` its SYN.
    private(set) var openings: [WireBinding.Opening] = []
    /// The capture's numbers of connections, and their places in `table`.
    private var positions: [Int: Int] = [:]
    /// The number of each connection of `table`.
    private(set) var numbers: [Int] = []

    subscript(conversation index: Int) -> Conversation { table.conversations[index] }

    /// Where a connection of that number is in `table`; nil if it has no packet here.
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
            // Not a packet that can be decoded: it is kept for the file, and is part of no connection.
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
