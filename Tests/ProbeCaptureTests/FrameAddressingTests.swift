import ProbeWire
import Testing

@testable import ProbeCapture

@Suite struct FrameAddressingTests {
    private static let ethernet4 = [UInt8](repeating: 0, count: 12) + [0x08, 0x00]
    private static let ethernet6 = [UInt8](repeating: 0, count: 12) + [0x86, 0xdd]
    private static let ports: [UInt8] = [0x12, 0x34, 0xab, 0xcd]

    private static func ip4(_ number: UInt8, options: Int = 0, fragment: UInt16 = 0) -> [UInt8] {
        [0x45 + UInt8(options), 0, 0, 0, 0, 0, UInt8(fragment >> 8), UInt8(fragment & 255), 64, number, 0, 0]
            + [UInt8](repeating: 0, count: 8 + options * 4)
    }

    private static func ip6(_ number: UInt8) -> [UInt8] {
        [0x60, 0, 0, 0, 0, 0, number, 64] + [UInt8](repeating: 0, count: 32)
    }

    private static func tcp() -> [UInt8] {
        ports + [1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x12] + [UInt8](repeating: 0, count: 6)
    }
    private static func udp(length: UInt16, payload: [UInt8]) -> [UInt8] {
        ports + [UInt8(length >> 8), UInt8(length & 255), 0, 0] + payload
    }

    private func addressing(_ frame: [UInt8]) -> FrameAddressing { frame.withUnsafeBytes { FrameAddressing($0) } }

    @Test(
        "TCP ports are found",
        arguments: [ethernet4 + ip4(6) + tcp(), ethernet4 + ip4(6, options: 10) + tcp(), ethernet6 + ip6(6) + tcp()])
    func tcpPorts(frame: [UInt8]) {
        guard case .tcp(let segment) = addressing(frame) else {
            Issue.record("no segment was found")
            return
        }
        #expect((segment.source.port, segment.destination.port) == (0x1234, 0xabcd))
        #expect(
            (segment.sequence, segment.acknowledgment) == (SequenceNumber(0x0102_0304), SequenceNumber(0x0506_0708)))
        #expect(segment.flags == [.syn, .ack])
    }

    @Test func addressesAndLengthAreFound() {
        var four = Self.ethernet4 + Self.ip4(6) + Self.tcp() + [9, 9, 9]
        four.replaceSubrange(16..<18, with: [0, 43])
        four.replaceSubrange(26..<34, with: [127, 0, 0, 1, 127, 0, 0, 2])
        guard case .tcp(let segment) = addressing(four) else {
            Issue.record("no segment was found")
            return
        }
        #expect(segment.source == SocketEndpoint("127.0.0.1:4660"))
        #expect(segment.destination == SocketEndpoint("127.0.0.2:43981"))
        #expect((segment.length, segment.sequenceLength) == (3, 4))
        var six = Self.ethernet6 + Self.ip6(6) + Self.tcp() + [9, 9]
        six.replaceSubrange(18..<20, with: [0, 22])
        six[37] = 1
        six[53] = 2
        guard case .tcp(let other) = addressing(six) else {
            Issue.record("no segment was found")
            return
        }
        #expect(other.source == SocketEndpoint("[::1]:4660"))
        #expect(other.destination == SocketEndpoint("[::2]:43981"))
        #expect(other.length == 2)
    }

    /// A segment of more than 64 KiB has no length in its IP header.
    @Test func aLengthOfNoughtIsTheFramesOwn() {
        let frame = Self.ethernet4 + Self.ip4(6) + Self.tcp()
        let whole = frame.withUnsafeBytes { FrameAddressing($0, originalLength: 100_054) }
        guard case .tcp(let segment) = whole else {
            Issue.record("no segment was found")
            return
        }
        #expect(segment.length == 100_000)
    }

    @Test func udpPayloadIsFound() {
        let frame = Self.ethernet4 + Self.ip4(17) + Self.udp(length: 11, payload: [1, 2, 3, 9, 9])
        #expect(addressing(frame) == .udp(source: 0x1234, destination: 0xabcd, payload: 42..<45))
    }

    @Test(
        "what has no ports to read is of no interest",
        arguments: [
            [], ethernet4, ethernet4 + ip4(1) + tcp(), ethernet4 + ip4(6, fragment: 7) + tcp(),
            ethernet6 + ip4(6) + tcp(),
            ethernet4 + ip4(17) + udp(length: 7, payload: []), ethernet4 + ip4(17) + udp(length: 9, payload: []),
            ethernet4 + ip4(17) + udp(length: 65_535, payload: [1]), ethernet4 + [0x40] + ip4(6).dropFirst() + tcp(),
            ethernet4 + [0x4f] + ip4(6).dropFirst() + tcp(), ethernet6 + ip6(0) + tcp(),
        ])
    func others(frame: [UInt8]) {
        #expect(addressing(frame) == .other)
    }

    @Test func noPrefixTraps() {
        for frame in [
            Self.ethernet4 + Self.ip4(6, options: 10) + Self.tcp(), Self.ethernet6 + Self.ip6(6) + Self.tcp(),
            Self.ethernet4 + Self.ip4(17) + Self.udp(length: 11, payload: [1, 2, 3]),
        ] {
            #expect(addressing(frame) != .other)
            for length in 0..<frame.count {
                let cut = addressing(Array(frame[..<length]))
                // Options of a segment may be missing; a datagram has to be whole.
                if case .udp = cut { Issue.record("a cut datagram of \(length) bytes was taken for whole") }
            }
        }
    }
}
