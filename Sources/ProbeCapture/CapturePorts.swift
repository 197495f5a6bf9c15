/// The TCP ports that a capture's filter lets through: a range that the run hands out and single ones beside it.
package struct CapturePorts: Sendable, Equatable {
    /// Ascending, disjoint and not adjacent.
    package private(set) var ranges: [ClosedRange<UInt16>] = []

    package init(range: ClosedRange<UInt16>? = nil, extra: [UInt16] = []) {
        if let range { insert(range) }
        for port in extra { insert(port...port) }
    }

    package func contains(_ port: UInt16) -> Bool {
        ranges.contains { $0.contains(port) }
    }

    /// Returns whether the set grew.
    @discardableResult
    package mutating func insert(_ port: UInt16) -> Bool {
        guard !contains(port) else { return false }
        insert(port...port)
        return true
    }

    private mutating func insert(_ new: ClosedRange<UInt16>) {
        var lower = Int(new.lowerBound)
        var upper = Int(new.upperBound)
        var kept: [ClosedRange<UInt16>] = []
        for range in ranges {
            if Int(range.upperBound) + 1 < lower || upper + 1 < Int(range.lowerBound) {
                kept.append(range)
            } else {
                lower = min(lower, Int(range.lowerBound))
                upper = max(upper, Int(range.upperBound))
            }
        }
        kept.append(UInt16(lower)...UInt16(upper))
        ranges = kept.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// The filter in libpcap's language (pcap-filter(7)).
    ///
    /// Loopback hands each packet to the ring twice, on its way out and on its way in; `inbound` leaves one, which halves what
    /// the ring must hold and what the kernel copies.
    func filterExpression(fencePort: UInt16) -> String {
        let ports = ranges.map { range in
            range.count == 1 ? "port \(range.lowerBound)" : "portrange \(range.lowerBound)-\(range.upperBound)"
        }
        let tcp = ports.isEmpty ? "" : "(tcp and (\(ports.joined(separator: " or ")))) or "
        return "inbound and (\(tcp)udp port \(fencePort))"
    }
}
