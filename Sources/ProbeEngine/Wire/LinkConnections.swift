import ProbeBase
import ProbeWire

/// Numbers the connections of a link's packets. As in the capture on loopback, a SYN with a different sequence number
/// begins another connection, even if the addresses are the same. The numbers are negative, to distinguish them from
/// the numbers in the capture on loopback.
struct LinkConnections {
    private struct Ends: Hashable {
        var client: SocketEndpoint
        var server: SocketEndpoint
    }

    private struct Known {
        var number: Int
        var sequence: UInt32
    }

    private var known: [Ends: Known] = [:]
    private var last = 0

    /// Returns the number of the packet's connection; `nil` if the packet is not a TCP segment or belongs to no
    /// connection.
    mutating func number(of packet: CapturedPacket) -> Int? {
        // A packet that can't be decoded belongs to no connection.
        guard case .tcp(let segment)? = try? packet.decoded(linkType: .ethernet) else { return nil }
        let forth = Ends(client: segment.source, server: segment.destination)
        let back = Ends(client: segment.destination, server: segment.source)
        guard segment.flags.contains(.syn), !segment.flags.contains(.ack) else {
            return (known[forth] ?? known[back])?.number
        }
        if let found = known[forth], found.sequence == segment.sequence.value { return found.number }
        // A SYN from the other side of a known connection is a simultaneous open of the same connection (RFC 9293,
        // section 3.5).
        if let found = known[back], known[forth] == nil { return found.number }
        last -= 1
        known[forth] = Known(number: last, sequence: segment.sequence.value)
        return last
    }
}
