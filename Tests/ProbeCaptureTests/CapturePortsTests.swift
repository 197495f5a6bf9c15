import Testing

@testable import ProbeCapture

@Suite struct CapturePortsTests {
    /// The part of every filter that accepts fragments, which a fence needs because its packets may be fragmented.
    private let fragments = " or (udp and ip[6:2] & 0x1fff != 0)"

    @Test func adjacentAndOverlappingRangesAreJoined() {
        let ports = CapturePorts(range: 2000...2009, extra: [1999, 2010, 2005, 80, 65_535, 65_534, 0])
        #expect(ports.ranges == [0...0, 80...80, 1999...2010, 65_534...65_535])
    }

    @Test func insertReportsGrowth() {
        var ports = CapturePorts(range: 2000...2009)
        let again = ports.insert(2000)
        let new = ports.insert(2011)
        #expect(!again)
        #expect(new)
        #expect(ports.contains(2011))
        #expect(!ports.contains(2010))
    }

    @Test func filterNamesRangesAndPorts() {
        #expect(CapturePorts().filterExpression(fencePort: 9) == "inbound and (udp port 9\(fragments))")
        let some = CapturePorts(range: 20...29, extra: [7])
        #expect(
            some.filterExpression(fencePort: 9)
                == "inbound and ((tcp and not net 127.64.0.0/10 and (port 7 or portrange 20-29)) or udp port 9\(fragments))"
        )
    }

    @Test func crowdIsExcludedUntilReadmitted() {
        var ports = CapturePorts(extra: [7])
        let all = ports
        let crowd = CrowdTraffic(ports: 10_000...10_009, target: 7)
        ports.leaveOut(crowd)
        ports.leaveOut(crowd)
        ports.readmit(crowd)
        let part = "not ((dst port 7 and src portrange 10000-10009) or (src port 7 and dst portrange 10000-10009))"
        #expect(
            ports.filterExpression(fencePort: 9)
                == "inbound and ((tcp and not net 127.64.0.0/10 and \(part) and (port 7)) or udp port 9\(fragments))")
        ports.readmit(crowd)
        #expect(ports == all)
    }

    @Test(arguments: [
        (10_000, 7, true), (7, 10_009, true), (10_010, 7, false), (10_000, 8, false), (40_000, 7, false), (7, 7, false),
    ])
    func crowdIsRecognizedByBothPorts(source: Int, destination: Int, isCrowdTraffic: Bool) {
        let crowd = CrowdTraffic(ports: 10_000...10_009, target: 7)
        #expect(crowd.contains(source: UInt16(source), destination: UInt16(destination)) == isCrowdTraffic)
    }

    @Test func longFilterJoinsItsNearestRanges() {
        // Sixteen groups of four ports each. The ports of a group are 2 apart, and the groups are 1000 apart.
        var ports = CapturePorts()
        var expected: [String] = []
        for first in stride(from: UInt16(1000), through: 16_000, by: 1000) {
            for step in UInt16(0)...3 { ports.insert(first + step * 2) }
            expected.append("portrange \(first)-\(first + 6)")
        }
        let filter = ports.filterExpression(fencePort: 9)
        let ranges = expected.joined(separator: " or ")
        #expect(
            filter == "inbound and ((tcp and not net 127.64.0.0/10 and (\(ranges))) or udp port 9\(fragments))")
    }
}
