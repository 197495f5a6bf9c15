import ProbeBase
import ProbeCapture
import ProbeNetwork
import ProbeWire

/// What passed over the links of a case beside that which left: what arrived, and which faults met which packets. Pure.
struct LinkTraffic {
    /// A packet that arrived other than it left, or that nobody sent.
    struct Changed {
        var packet: CapturedPacket
        var faults: [Int]
        var isMadeByLink: Bool
        /// A further copy of a packet, which the link made.
        var isDuplicate: Bool
        /// Where it arrived.
        var place: CaseLinks.Place
    }

    /// How a packet left an end of a link.
    struct Departure {
        /// The end that sent it.
        var place: CaseLinks.Place
        /// It arrived at once, unchanged.
        var hasArrived: Bool
    }

    /// What came to the receivers, without the copies that a link made of packets.
    private(set) var arrived = CaseTraffic()
    /// Of the entries of what left: the faults that they met.
    private(set) var faults: [Int: [Int]] = [:]
    /// How each entry of what left that passed over a link did so.
    private(set) var departures: [Int: Departure] = [:]
    private(set) var changed: [Changed] = []
    private var connections = LinkConnections()

    /// Adds what passed over a link to it and to what left.
    mutating func add(_ passage: CaseLinks.Passage, to left: inout CaseTraffic) {
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
