import ProbeBase
import ProbeCapture
import ProbeLink
import ProbeWire

/// The packets that arrived over the links of a case, and the faults that affected them. The sent packets are in a
/// separate ``CaseTraffic``.
struct LinkTraffic {
    /// A packet that arrived altered, late or duplicated, or that neither end sent.
    struct Changed {
        var packet: CapturedPacket
        var faults: [Int]
        var isMadeByLink: Bool
        /// Whether the packet is a duplicate made by the link.
        var isDuplicate: Bool
        /// The end at which the packet arrived.
        var place: CaseLinks.Place
    }

    /// The departure of a packet from an end of a link.
    struct Departure {
        /// The end that sent the packet.
        var place: CaseLinks.Place
        /// Whether the packet arrived immediately and unchanged.
        var hasArrived: Bool
    }

    /// The packets that arrived at the receivers, excluding duplicates made by a link.
    private(set) var arrived = CaseTraffic()
    /// The numbers of the faults that affected each sent packet, by the packet's index.
    private(set) var faults: [Int: [Int]] = [:]
    /// The departure of each sent packet that passed over a link, by the packet's index.
    private(set) var departures: [Int: Departure] = [:]
    private(set) var changed: [Changed] = []
    private var connections = LinkConnections()

    /// Adds a packet that passed over a link. If an end sent the packet, adds it to the sent packets, too.
    mutating func add(_ passage: CaseLinks.TransmittedPacket, to left: inout CaseTraffic) {
        let record = passage.record
        let packet = CapturedPacket(
            time: record.time, originalLength: record.bytes.count, bytes: record.bytes)
        let number = connections.number(of: packet)
        let received = ConnectionPacket(packet: packet, connection: number ?? 0)
        if record.view != .arrived {
            departures[left.entries.count] = Departure(
                place: CaseLinks.Place(index: passage.link, side: record.from), hasArrived: record.view == .both)
            if !record.faults.isEmpty { faults[left.entries.count] = record.faults }
            left.add(received, .ethernet)
        }
        if record.view == .arrived {
            changed.append(
                Changed(
                    packet: packet, faults: record.faults, isMadeByLink: record.isMadeByLink,
                    isDuplicate: record.isDuplicate,
                    place: CaseLinks.Place(index: passage.link, side: record.from.opposite)))
        }
        if record.view != .left, !record.isDuplicate { arrived.add(received, .ethernet) }
    }
}
