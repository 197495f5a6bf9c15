/// The TCP ports that a capture's filter accepts: the range from which the run assigns ports, and additional single
/// ports.
package struct CapturePorts: Sendable, Equatable {
    /// The accepted ranges of ports, in ascending order. The ranges are disjoint and not adjacent.
    package private(set) var ranges: [ClosedRange<UInt16>] = []
    /// The traffic of crowds that is excluded from the capture even though its ports are accepted.
    private(set) var crowds: [CrowdTraffic] = []

    package init(range: ClosedRange<UInt16>? = nil, extra: [UInt16] = []) {
        if let range { insert(range) }
        for port in extra { insert(port...port) }
    }

    package mutating func leaveOut(_ crowd: CrowdTraffic) { crowds.append(crowd) }

    package mutating func readmit(_ crowd: CrowdTraffic) {
        if let index = crowds.firstIndex(of: crowd) { crowds.remove(at: index) }
    }

    package func contains(_ port: UInt16) -> Bool {
        ranges.contains { $0.contains(port) }
    }

    /// Inserts a port, and returns whether it was new.
    @discardableResult
    package mutating func insert(_ port: UInt16) -> Bool {
        guard !contains(port) else { return false }
        insert(port...port)
        return true
    }

    private mutating func insert(_ new: ClosedRange<UInt16>) {
        // Ranges that touch or overlap the new range are merged with it.
        let first = ranges.firstIndex { Int($0.upperBound) + 1 >= Int(new.lowerBound) } ?? ranges.count
        let end = ranges[first...].firstIndex { Int($0.lowerBound) > Int(new.upperBound) + 1 } ?? ranges.count
        let met = ranges[first..<end]
        let lower = min(new.lowerBound, met.first?.lowerBound ?? new.lowerBound)
        let upper = max(new.upperBound, met.last?.upperBound ?? new.upperBound)
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(lower...upper))
    }

    /// The maximum number of ranges in a filter. The time that libpcap takes to compile a filter grows faster than the
    /// length of the filter: 16 ranges take 0.4 ms, and 256 ranges take more than a second.
    private static let filterRangeLimit = 16
    /// The maximum number of crowds that the filter excludes. The packets of further crowds pass the filter and are
    /// dropped later.
    private static let filterCrowdLimit = 4

    /// Returns the filter expression for libpcap (pcap-filter(7)).
    ///
    /// If there are too many ranges, the ranges that are separated by the smallest gaps are joined. Packets on the
    /// ports in these gaps then pass the filter, and are dropped because they belong to no subscription.
    ///
    /// Loopback delivers each packet to the ring twice, as outgoing and as incoming. With `inbound`, the filter accepts
    /// only one of the two copies, which halves the number of packets that the ring must hold and the kernel must copy.
    func filterExpression(fencePort: UInt16) -> String {
        let ports = joined(to: Self.filterRangeLimit).map { range in
            range.count == 1 ? "port \(range.lowerBound)" : "portrange \(range.lowerBound)-\(range.upperBound)"
        }
        // 127.64.0.0/10 is the network of crowds, whose packets are not judged and would fill the ring.
        let crowds = crowds.prefix(Self.filterCrowdLimit).map { " and not (\($0.filterExpression))" }.joined()
        let tcp =
            ports.isEmpty ? "" : "(tcp and not net 127.64.0.0/10\(crowds) and (\(ports.joined(separator: " or ")))) or "
        // With an Ethernet MTU, the fillers of a fence arrive in fragments, and only the first fragment contains the
        // ports. The filter must accept the other fragments as well, because otherwise no block would fill up.
        // Fragments of other datagrams belong to no subscription, and are dropped.
        return "inbound and (\(tcp)udp port \(fencePort) or (udp and ip[6:2] & 0x1fff != 0))"
    }

    private func joined(to limit: Int) -> [ClosedRange<UInt16>] {
        guard ranges.count > limit else { return ranges }
        // The widest gaps between ranges are kept. The result has one more range than gaps.
        func gap(before index: Int) -> UInt16 { ranges[index].lowerBound - ranges[index - 1].upperBound }
        let gaps = (1..<ranges.count).sorted { gap(before: $0) > gap(before: $1) }.prefix(limit - 1).sorted()
        let starts = [0] + gaps
        let ends = gaps + [ranges.count]
        return zip(starts, ends).map { ranges[$0].lowerBound...ranges[$1 - 1].upperBound }
    }
}

/// The connections of a crowd that does not use the crowds' network: connections from one of the crowd's ports to the
/// port of the crowd's target.
package struct CrowdTraffic: Sendable, Equatable {
    package var ports: ClosedRange<UInt16>
    package var target: UInt16

    package init(ports: ClosedRange<UInt16>, target: UInt16) {
        (self.ports, self.target) = (ports, target)
    }

    func contains(source: UInt16, destination: UInt16) -> Bool {
        destination == target && ports.contains(source) || source == target && ports.contains(destination)
    }

    fileprivate var filterExpression: String {
        let range = "\(ports.lowerBound)-\(ports.upperBound)"
        return "(dst port \(target) and src portrange \(range)) or (src port \(target) and dst portrange \(range))"
    }
}
