package import ProbeWire

/// The numbers of unusual events in a flow, for both directions together. Events that `Conversation` itself counts are
/// excluded.
package struct ConnectionAnomalies: Sendable, Hashable {
    package private(set) var outOfOrder = 0
    package private(set) var fastRetransmissions = 0
    package private(set) var spuriousRetransmissions = 0
    package private(set) var keepAlives = 0
    package private(set) var zeroWindowProbes = 0
    package private(set) var outOfWindow = 0
    package private(set) var duplicateAcks = 0
    /// The number of ICMP errors about packets of the flow.
    package private(set) var icmpErrors = 0

    package init() {}

    /// Returns whether the packet is unusual in any way.
    @inline(__always)
    static func isOne(_ summary: PacketSummary) -> Bool {
        if summary.isDuplicateAck { return true }
        switch summary.kind {
        case .control, .new, .retransmission: return false
        default: return true
        }
    }

    @inline(__always)
    package mutating func note(_ summary: PacketSummary) {
        if summary.isDuplicateAck { duplicateAcks += 1 }
        count(summary.kind)
    }

    mutating func note(icmpErrors count: Int) { icmpErrors = count }

    private mutating func count(_ kind: SegmentKind) {
        switch kind {
        case .outOfOrder: outOfOrder += 1
        case .fastRetransmission: fastRetransmissions += 1
        case .spuriousRetransmission: spuriousRetransmissions += 1
        case .keepAlive: keepAlives += 1
        case .zeroWindowProbe: zeroWindowProbes += 1
        case .outOfWindow: outOfWindow += 1
        // Packets of the following kinds are counted by `Conversation`, because a later packet may change a packet's
        // kind.
        case .tailLossProbe, .retransmissionOrProbe, .copy: break
        case .control, .new, .retransmission: break
        }
    }
}
