/// Where a captured Ethernet-style frame goes: just enough to hand it to its claim. Never traps, whatever the bytes.
enum FrameAddressing: Equatable {
    case tcp(source: UInt16, destination: UInt16)
    /// `payload` is the range of the datagram's payload within the frame.
    case udp(source: UInt16, destination: UInt16, payload: Range<Int>)
    case other

    private static let ethernetLength = 14

    init(_ frame: UnsafeRawBufferPointer) {
        func byte(_ offset: Int) -> Int { Int(frame[offset]) }
        func word(_ offset: Int) -> UInt16 { UInt16(frame[offset]) << 8 | UInt16(frame[offset + 1]) }

        self = .other
        guard frame.count >= Self.ethernetLength + 20 else { return }
        let transport: Int
        let networkProtocol: Int
        switch word(12) {
        case 0x0800:
            // Only the first fragment has ports (RFC 791, section 3.1); loopback does not fragment TCP.
            guard byte(14) >> 4 == 4, word(20) & 0x1fff == 0 else { return }
            transport = Self.ethernetLength + (byte(14) & 15) * 4
            networkProtocol = byte(23)
        case 0x86dd:
            // Extension headers are not followed: the filter does not let such packets through.
            guard byte(14) >> 4 == 6, frame.count >= Self.ethernetLength + 40 else { return }
            transport = Self.ethernetLength + 40
            networkProtocol = byte(20)
        default:
            return
        }
        guard transport >= Self.ethernetLength + 20, frame.count >= transport + 8 else { return }
        switch networkProtocol {
        case 6:
            self = .tcp(source: word(transport), destination: word(transport + 2))
        case 17:
            let end = transport + Int(word(transport + 4))
            guard end >= transport + 8, end <= frame.count else { return }
            self = .udp(
                source: word(transport), destination: word(transport + 2), payload: transport + 8..<end)
        default:
            return
        }
    }
}
