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
    }

    /// What came to the receivers, without the copies that a link made of packets.
    private(set) var arrived = CaseTraffic()
    /// Of the entries of what left: the faults that they met.
    private(set) var faults: [Int: [Int]] = [:]
    private(set) var changed: [Changed] = []
    private var connections = LinkConnections()

    /// Adds what passed over a link to it and to what left.
    mutating func add(_ record: LinkRecord, to left: inout CaseTraffic) {
        let packet = CapturedPacket(
            time: record.time, originalLength: record.bytes.count, bytes: record.bytes)
        let number = connections.number(of: packet)
        let received = ConnectionPacket(packet: packet, connection: number ?? 0)
        if record.view != .arrived {
            if !record.faults.isEmpty { faults[left.entries.count] = record.faults }
            left.add(received, .ethernet)
        }
        if record.view == .arrived {
            changed.append(Changed(packet: packet, faults: record.faults, isMadeByLink: record.isMadeByLink))
        }
        if record.view != .left, !record.isDuplicate { arrived.add(received, .ethernet) }
    }
}
