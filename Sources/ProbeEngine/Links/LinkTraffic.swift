import ProbeBase
import ProbeCapture
import ProbeLink
import ProbeWire

/// The packets that arrived over the links of a case, and the faults that affected them, in addition to the packets
/// that were sent. Pure.
struct LinkTraffic {
    /// A packet that did not arrive as it was sent, or that no end sent.
    struct Changed {
        var packet: CapturedPacket
        var faults: [Int]
        var isMadeByLink: Bool
        /// Whether the packet is a duplicate that the link made.
        var isDuplicate: Bool
        /// The end at which the packet arrived.
        var place: CaseLinks.Place
    }

    /// How a packet was sent from an end of a link.
    struct Departure {
        /// The end that sent the packet.
        var place: CaseLinks.Place
        /// Whether the packet arrived immediately and unchanged.
        var hasArrived: Bool
    }

    /// The packets that the receivers got, without duplicates that a link made.
    private(set) var arrived = CaseTraffic()
    /// The faults that affected sent packets, by the packet's index.
    private(set) var faults: [Int: [Int]] = [:]
    /// How each sent packet that passed over a link departed, by the packet's index.
    private(set) var departures: [Int: Departure] = [:]
    private(set) var changed: [Changed] = []
    private var connections = LinkConnections()

    /// Adds a packet that passed over a link, also to the sent packets if it was sent.
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
