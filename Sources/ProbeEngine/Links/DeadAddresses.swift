import ProbeBase
import ProbeEvents
import ProbeSystem
import ProbeWire

/// The packets that programs on a link sent to unused addresses. They are shown in the timeline, although they don't
/// belong to any connection of the case.
struct DeadAddresses {
    let context: CaseContext

    /// The maximum number of packets that a report shows.
    private static let shown = 100

    /// Returns a timeline entry for each packet sent to an unused address, regardless of its protocol.
    func attempts(_ names: WireNames, _ faults: LinkComments) -> [TimelineEntry] {
        guard context.links.wereOpened else { return [] }
        var found: [TimelineEntry] = []
        for (index, entry) in names.traffic.entries.enumerated() {
            guard found.count < Self.shown else { break }
            guard let header = IPHeader(entry.packet.bytes), let place = context.links.place(of: header.source),
                !header.isForGroup, context.links.place(of: header.destination) == nil
            else { continue }
            let comments = faults.comments(of: index)
            var to = "\(header.destination)"
            var text = header.protocolName
            if let summary = entry.summary {
                to = names.traffic[conversation: summary.conversation].endpoint(of: summary.side.opposite).description
                text = summary.flags.description
            } else if header.destination.family == .v6 {
                to = "[\(to)]"
            }
            let met = comments.map { "  [\($0)]" }.joined()
            found.append(
                TimelineEntry(
                    time: context.time.elapsed(context.capture.time(of: entry.packet)),
                    kind: .packet(
                        TimelinePacket(
                            "\(context.programs(at: place)) -> \(to)  \(text)  no answer\(met)", faults: comments))))
        }
        return found
    }
}

/// The addresses and the protocol of an IP packet in an Ethernet frame. Decoding never traps, regardless of the input.
struct IPHeader: Equatable {
    let source: IPAddress
    let destination: IPAddress
    let protocolNumber: UInt8

    /// Decodes the IP header of an Ethernet frame; `nil` if the frame is not an IP packet or the header is incomplete.
    init?(_ frame: [UInt8]) {
        let start = 14
        guard frame.count >= start + 20 else { return nil }
        func word(_ at: Int, _ count: Int) -> UInt64 {
            frame[at..<at + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        switch word(12, 2) {
        case 0x0800:
            source = IPAddress(v4: UInt32(truncatingIfNeeded: word(start + 12, 4)))
            destination = IPAddress(v4: UInt32(truncatingIfNeeded: word(start + 16, 4)))
            protocolNumber = frame[start + 9]
        case 0x86dd where frame.count >= start + 40:
            source = IPAddress(v6High: word(start + 8, 8), low: word(start + 16, 8))
            destination = IPAddress(v6High: word(start + 24, 8), low: word(start + 32, 8))
            protocolNumber = frame[start + 6]
        default: return nil
        }
    }

    /// Whether the destination is a multicast or broadcast address (RFC 5771, RFC 4291).
    var isForGroup: Bool {
        switch destination.family {
        case .v4: destination.bytes[0] >= 224
        case .v6: destination.bytes[0] == 0xff
        }
    }

    var protocolName: String {
        switch protocolNumber {
        case 1, 58: "ICMP"
        case 6: "TCP"
        case 17: "UDP"
        default: "IP protocol \(protocolNumber)"
        }
    }
}
