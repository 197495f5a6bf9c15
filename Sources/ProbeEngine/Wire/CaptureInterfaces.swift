import ProbeLink
import ProbeScenario
import ProbeWire

/// The interfaces of a case's capture file: loopback, and the two ends of each link.
///
/// A packet that crossed a link is recorded on two interfaces, as in captures made at both ends of the link. The
/// interface of the sender shows the packet as it was sent and, if the packet arrived, the interface of the receiver
/// shows it as it was received.
struct CaptureInterfaces {
    /// A packet record in the capture file.
    struct Record {
        var packet: CapturedPacket
        var comments: [String]
        var interface: Int
        /// The direction of the packet at its end of the link; `nil` on loopback.
        var direction: PacketDirection?
    }

    let all: [PcapNGWriter.Interface]
    /// The index of the interface for the first link's left end.
    private let firstEnd: Int
    private let departures: [Int: LinkTraffic.Departure]

    init(_ context: CaseContext, _ linkType: LinkType) {
        self.init(
            linkType, isLoopbackSeen: context.capture.capture != nil,
            links: context.links.wereOpened ? context.scenario.links : [], departures: context.capture.link.departures)
    }

    init(
        _ linkType: LinkType, isLoopbackSeen: Bool, links: [LinkDeclaration],
        departures: [Int: LinkTraffic.Departure]
    ) {
        func interface(_ name: String, _ end: CaptureLinkEnd? = nil) -> PcapNGWriter.Interface {
            PcapNGWriter.Interface(name: name, linkType: linkType, snapLength: 262_144, linkEnd: end)
        }
        var interfaces = isLoopbackSeen || links.isEmpty ? [interface("lo")] : []
        firstEnd = interfaces.count
        for link in links {
            interfaces.append(interface(link.left.map(\.value).joined(separator: ","), .left))
            interfaces.append(interface(link.right.map(\.value).joined(separator: ","), .right))
        }
        all = interfaces
        self.departures = departures
    }

    /// Returns the packet records of the file in chronological order.
    ///
    /// - Parameters:
    ///   - order: the indices of `entries` in chronological order.
    ///   - comments: the comments that steps added, by the index of the entry.
    func records(
        _ order: [Int], entries: [CaseTraffic.Entry], comments: [Int: [String]], _ faults: LinkComments
    ) -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(order.count)
        // A packet that arrived late gets the comments of the sent packet, so that the steps are visible at both ends.
        var late: [[UInt8]: [String]] = [:]
        for index in order {
            let packet = entries[index].packet
            let steps = comments[index] ?? []
            guard let departure = departures[index] else {
                records.append(Record(packet: packet, comments: steps, interface: 0))
                continue
            }
            var record = Record(
                packet: packet, comments: steps + faults.comments(of: index), interface: number(departure.place),
                direction: .outbound)
            records.append(record)
            if departure.hasArrived {
                record.interface = number(departure.place.opposite)
                record.direction = .inbound
                records.append(record)
            } else if !steps.isEmpty {
                late[packet.bytes] = steps
            }
        }
        if faults.changed.isEmpty { return records }
        let arrived = faults.changed.map { entry in
            Record(
                packet: entry.packet, comments: (late[entry.packet.bytes] ?? []) + entry.comments,
                interface: number(entry.place), direction: .inbound)
        }
        return (records + arrived).enumerated()
            .sorted { ($0.element.packet.time, $0.offset) < ($1.element.packet.time, $1.offset) }.map(\.element)
    }

    private func number(_ place: CaseLinks.Place) -> Int {
        firstEnd + 2 * place.index + (place.side == .left ? 0 : 1)
    }
}

extension CaseLinks.Place {
    /// The other end of the same link.
    fileprivate var opposite: CaseLinks.Place { CaseLinks.Place(index: index, side: side.opposite) }
}
