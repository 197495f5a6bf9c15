import ProbeBase

/// Functions that modify frames, and functions that create the frames that a link itself sends.
///
/// The resulting frames have correct checksums unless stated otherwise. The functions have no side effects.
enum FrameEdit {
    // MARK: Checksums (RFC 1071)

    private static func sum(_ bytes: some Collection<UInt8>, _ start: UInt32 = 0) -> UInt32 {
        var sum = UInt64(start)
        var isHigh = true
        for byte in bytes {
            sum += isHigh ? UInt64(byte) << 8 : UInt64(byte)
            isHigh.toggle()
        }
        while sum >> 16 != 0 { sum = sum & 0xffff + sum >> 16 }
        return UInt32(sum)
    }

    private static func put(_ value: Int, at place: Int, in frame: inout [UInt8]) {
        frame[place] = UInt8(truncatingIfNeeded: value >> 8)
        frame[place + 1] = UInt8(truncatingIfNeeded: value)
    }

    private static func put(_ value: UInt32, at place: Int, in frame: inout [UInt8]) {
        put(Int(value >> 16), at: place, in: &frame)
        put(Int(value & 0xffff), at: place + 2, in: &frame)
    }

    /// Writes the checksum of a TCP or ICMPv6 header. The checksum also covers the pseudo-header with the IP addresses.
    private static func seal(
        _ frame: inout [UInt8], transport: Range<Int>, checksum: Int, addresses: Range<Int>, next: UInt8
    ) {
        put(0, at: checksum, in: &frame)
        let pseudo = sum(frame[addresses], UInt32(next)) + UInt32(transport.count)
        let value = ~sum(frame[transport], pseudo) & 0xffff
        put(Int(value), at: checksum, in: &frame)
    }

    private static func sealIPv4(_ frame: inout [UInt8]) {
        let header = LinkFrame.ip..<LinkFrame.ip + Int(frame[LinkFrame.ip] & 15) * 4
        put(0, at: LinkFrame.ip + 10, in: &frame)
        put(Int(~sum(frame[header]) & 0xffff), at: LinkFrame.ip + 10, in: &frame)
    }

    static func seal(_ frame: inout [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP) {
        seal(
            &frame, transport: tcp.start..<tcp.end, checksum: tcp.start + 16, addresses: view.addresses, next: 6)
    }

    // MARK: Packet faults

    /// Returns the frame with an incorrect TCP checksum, or `nil` if the frame is not a TCP segment.
    static func withBrokenChecksum(_ frame: [UInt8], _ view: LinkFrame) -> [UInt8]? {
        guard let tcp = view.tcp else { return nil }
        var frame = frame
        frame[tcp.start + 16] ^= 0x5a
        return frame
    }

    /// Returns the frame with its last payload byte changed, or `nil` if the frame has no payload.
    static func altered(_ frame: [UInt8], _ view: LinkFrame) -> [UInt8]? {
        guard let tcp = view.tcp, tcp.payloadLength > 0 else { return nil }
        var frame = frame
        frame[tcp.end - 1] ^= 1
        seal(&frame, view, tcp)
        return frame
    }

    /// Returns the frame truncated after the first `size` bytes of its IP packet, or `nil` if the packet has at most
    /// `size` bytes.
    static func truncated(_ frame: [UInt8], _ view: LinkFrame, to size: Int) -> [UInt8]? {
        guard view.version != 0, size < view.length else { return nil }
        return Array(frame.prefix(LinkFrame.ip + size))
    }

    /// Returns the frame with its window field reduced to `window`, or `nil` if the field is not larger than `window`.
    static func withWindow(_ frame: [UInt8], _ view: LinkFrame, _ window: UInt16) -> [UInt8]? {
        guard let tcp = view.tcp, tcp.window > window else { return nil }
        var frame = frame
        put(Int(window), at: tcp.start + 14, in: &frame)
        seal(&frame, view, tcp)
        return frame
    }

    /// Returns the SYN or SYN-ACK with NOPs in place of the given option, or `nil` if the segment does not have the
    /// option.
    static func without(_ option: StrippedOption, _ frame: [UInt8], _ view: LinkFrame) -> [UInt8]? {
        guard let tcp = view.tcp, tcp.hasSYN else { return nil }
        var frame = frame
        var isChanged = false
        for (kind, place) in LinkFrame.options(of: tcp, in: frame) where kind == option.number {
            for at in place { frame[at] = 1 }
            isChanged = true
        }
        guard isChanged else { return nil }
        seal(&frame, view, tcp)
        return frame
    }

    /// Returns the SYN or SYN-ACK with its MSS reduced to `size`, or `nil` if the segment does not announce a larger
    /// MSS.
    static func withMSS(atMost size: Int, _ frame: [UInt8], _ view: LinkFrame) -> [UInt8]? {
        guard let tcp = view.tcp, tcp.hasSYN else { return nil }
        var frame = frame
        var isChanged = false
        for (kind, place) in LinkFrame.options(of: tcp, in: frame)
        where kind == StrippedOption.mss.number && place.count == 4 {
            let value = place.lowerBound + 2
            guard Int(frame[value]) << 8 | Int(frame[value + 1]) > size else { continue }
            put(size, at: value, in: &frame)
            isChanged = true
        }
        guard isChanged else { return nil }
        seal(&frame, view, tcp)
        return frame
    }

    /// Returns the fragments into which a hop with a smaller MTU divides an IPv4 packet (RFC 791, section 3.2).
    static func fragments(_ frame: [UInt8], _ view: LinkFrame, mtu: Int) -> [[UInt8]] {
        let header = Int(frame[LinkFrame.ip] & 15) * 4
        let room = (mtu - header) / 8 * 8
        guard view.version == 4, room >= 8 else { return [] }
        let body = LinkFrame.ip + header..<LinkFrame.ip + view.length
        let field = Int(frame[LinkFrame.ip + 6]) << 8 | Int(frame[LinkFrame.ip + 7])
        return stride(from: body.lowerBound, to: body.upperBound, by: room).map { start in
            let end = min(start + room, body.upperBound)
            var piece = Array(frame[..<body.lowerBound]) + frame[start..<end]
            put(header + end - start, at: LinkFrame.ip + 2, in: &piece)
            let isLast = end == body.upperBound
            let offset = (field & 0x1fff) + (start - body.lowerBound) / 8
            put(offset | (isLast ? field & 0x2000 : 0x2000), at: LinkFrame.ip + 6, in: &piece)
            sealIPv4(&piece)
            return piece
        }
    }

    // MARK: Frames created by the link

    /// Returns a segment in the direction of `model`, which is a frame of the same connection.
    ///
    /// - Parameter options: the TCP options; their length is a multiple of four bytes.
    static func segment(
        like model: [UInt8], _ view: LinkFrame, flags: UInt8, sequence: UInt32, acknowledgment: UInt32,
        window: UInt16, options: [UInt8] = [], payload: [UInt8] = []
    ) -> [UInt8]? {
        guard let tcp = view.tcp else { return nil }
        // The IP header without IP options.
        var frame = Array(model[..<(LinkFrame.ip + (view.version == 4 ? 20 : 40))])
        let start = frame.count
        frame += model[tcp.start..<tcp.start + 4]
        frame += [UInt8](repeating: 0, count: 16) + options + payload
        put(sequence, at: start + 4, in: &frame)
        put(acknowledgment, at: start + 8, in: &frame)
        frame[start + 12] = UInt8((20 + options.count) / 4) << 4
        frame[start + 13] = flags
        put(Int(window), at: start + 14, in: &frame)
        finishIP(&frame, view.version)
        seal(&frame, transport: start..<frame.count, checksum: start + 16, addresses: view.addresses, next: 6)
        return frame
    }

    private static func finishIP(_ frame: inout [UInt8], _ version: UInt8) {
        if version == 4 {
            frame[LinkFrame.ip] = 0x45
            put(frame.count - LinkFrame.ip, at: LinkFrame.ip + 2, in: &frame)
            put(0x4000, at: LinkFrame.ip + 6, in: &frame)
            sealIPv4(&frame)
        } else {
            put(frame.count - LinkFrame.ip - 40, at: LinkFrame.ip + 4, in: &frame)
        }
    }

    /// Returns an ICMP error message to the sender of `frame`.
    ///
    /// The message reports that the host or address is unreachable or, if `mtu` is given, that the packet is too large
    /// for a hop with that MTU (RFC 792, RFC 1191, RFC 4443). Its source address is the destination address of `frame`.
    static func unreachable(_ frame: [UInt8], _ view: LinkFrame, mtu: Int? = nil) -> [UInt8]? {
        switch view.version {
        case 4:
            let header = Int(frame[LinkFrame.ip] & 15) * 4
            let quoted = frame[LinkFrame.ip..<min(frame.count, LinkFrame.ip + header + 8)]
            var answer = Array(frame[..<LinkFrame.ip])
            answer += [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 1, 0, 0]
            answer += frame[LinkFrame.ip + 16..<LinkFrame.ip + 20] + frame[LinkFrame.ip + 12..<LinkFrame.ip + 16]
            let start = answer.count
            answer += [3, mtu == nil ? 1 : 4, 0, 0, 0, 0, 0, 0] + quoted
            put(mtu ?? 0, at: start + 6, in: &answer)
            finishIP(&answer, 4)
            put(Int(~sum(answer[start...]) & 0xffff), at: start + 2, in: &answer)
            return answer
        case 6:
            // The ICMP message contains as much of the packet as fits into the minimum MTU of IPv6.
            let quoted = frame[LinkFrame.ip..<min(frame.count, LinkFrame.ip + 1280 - 48)]
            var answer = Array(frame[..<LinkFrame.ip])
            answer += [0x60, 0, 0, 0, 0, 0, 58, 64]
            answer += frame[LinkFrame.ip + 24..<LinkFrame.ip + 40] + frame[LinkFrame.ip + 8..<LinkFrame.ip + 24]
            let start = answer.count
            answer += [mtu == nil ? 1 : 2, mtu == nil ? 3 : 0, 0, 0, 0, 0, 0, 0] + quoted
            put(UInt32(mtu ?? 0), at: start + 4, in: &answer)
            finishIP(&answer, 6)
            seal(
                &answer, transport: start..<answer.count, checksum: start + 2,
                addresses: LinkFrame.ip + 8..<LinkFrame.ip + 40, next: 58)
            return answer
        default: return nil
        }
    }
}
