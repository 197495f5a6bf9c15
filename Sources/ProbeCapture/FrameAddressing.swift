import ProbeWire

/// Where a captured Ethernet-style frame goes: just enough to hand it to its subscription. Never traps, whatever the bytes.
enum FrameAddressing: Equatable {
    case tcp(SegmentHeader)
    /// `payload` is the range of the datagram's payload within the frame.
    case udp(source: UInt16, destination: UInt16, payload: Range<Int>)
    case other

    private static let ethernetLength = 14

    /// - Parameter originalLength: of the frame on the wire, where less of it was captured.
    init(_ frame: UnsafeRawBufferPointer, originalLength: Int? = nil) {
        func byte(_ offset: Int) -> Int { Int(frame[offset]) }
        func word(_ offset: Int) -> UInt16 { UInt16(frame[offset]) << 8 | UInt16(frame[offset + 1]) }
        func long(_ offset: Int) -> UInt32 { UInt32(word(offset)) << 16 | UInt32(word(offset + 2)) }
        func quad(_ offset: Int) -> UInt64 { UInt64(long(offset)) << 32 | UInt64(long(offset + 4)) }

        self = .other
        guard frame.count >= Self.ethernetLength + 20 else { return }
        let transport: Int
        let networkProtocol: Int
        let end: Int
        let addresses: (IPAddress, IPAddress)
        switch word(12) {
        case 0x0800:
            // Only the first fragment has ports (RFC 791, section 3.1); loopback does not fragment TCP.
            guard byte(14) >> 4 == 4, word(20) & 0x1fff == 0 else { return }
            transport = Self.ethernetLength + (byte(14) & 15) * 4
            networkProtocol = byte(23)
            // 0 in a segment that is larger than the field can tell (BIG TCP).
            end = word(16) == 0 ? originalLength ?? frame.count : Self.ethernetLength + Int(word(16))
            addresses = (IPAddress(v4: long(26)), IPAddress(v4: long(30)))
        case 0x86dd:
            // Extension headers are not followed: the filter does not let such packets through.
            guard byte(14) >> 4 == 6, frame.count >= Self.ethernetLength + 40 else { return }
            transport = Self.ethernetLength + 40
            networkProtocol = byte(20)
            end = word(18) == 0 ? originalLength ?? frame.count : transport + Int(word(18))
            addresses = (
                IPAddress(v6High: quad(22), low: quad(30)), IPAddress(v6High: quad(38), low: quad(46))
            )
        default:
            return
        }
        guard transport >= Self.ethernetLength + 20, frame.count >= transport + 8 else { return }
        switch networkProtocol {
        case 6:
            guard frame.count >= transport + 20 else { return }
            let header = byte(transport + 12) >> 4 * 4
            self = .tcp(
                SegmentHeader(
                    source: SocketEndpoint(address: addresses.0, port: word(transport)),
                    destination: SocketEndpoint(address: addresses.1, port: word(transport + 2)),
                    sequence: SequenceNumber(long(transport + 4)),
                    acknowledgment: SequenceNumber(long(transport + 8)),
                    flags: TCPFlags(rawValue: word(transport + 12) & 0x1ff),
                    length: max(0, end - transport - header)))
        case 17:
            let last = transport + Int(word(transport + 4))
            guard last >= transport + 8, last <= frame.count else { return }
            self = .udp(
                source: word(transport), destination: word(transport + 2), payload: transport + 8..<last)
        default:
            return
        }
    }
}

extension SegmentHeader {
    /// Of a captured Ethernet-style frame; nil for one that holds no TCP segment.
    package init?(frame: [UInt8]) {
        guard case .tcp(let header) = frame.withUnsafeBytes({ FrameAddressing($0) }) else { return nil }
        self = header
    }
}
