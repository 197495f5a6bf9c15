package import ProbeBase

/// An ICMP error in which a router or host reports that it did not forward or accept a TCP segment (RFC 792, RFC 4443).
///
/// The ICMP message quotes the segment's header, so the error can be assigned to a connection.
package struct ICMPError: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The segment could not be delivered; the ICMP code gives the reason.
        case unreachable(code: UInt8)
        /// The segment was too long for the next link. `mtu` is 0 if the ICMP message does not state the link's MTU.
        case tooBig(mtu: Int)
        case timeExceeded(isReassembly: Bool)
        case parameterProblem
        case sourceQuench
    }

    package var kind: Kind
    package var isV6: Bool
    /// The sender of the ICMP message.
    package var reporter: IPAddress
    /// The sender of the segment, to which the ICMP message is addressed.
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    /// The sequence number of the quoted segment.
    package var sequence: SequenceNumber

    package init(
        kind: Kind, isV6: Bool, reporter: IPAddress, source: SocketEndpoint, destination: SocketEndpoint,
        sequence: SequenceNumber
    ) {
        self.kind = kind
        self.isV6 = isV6
        self.reporter = reporter
        self.source = source
        self.destination = destination
        self.sequence = sequence
    }

    /// A description of the error, such as `destination unreachable (port)` or `fragmentation needed, MTU 1400`.
    package var text: String {
        switch kind {
        case .unreachable(let code): "destination unreachable (\(reason(code)))"
        case .tooBig(let mtu): (isV6 ? "packet too big" : "fragmentation needed") + (mtu > 0 ? ", MTU \(mtu)" : "")
        case .timeExceeded(let isReassembly):
            isReassembly ? "reassembly time exceeded" : isV6 ? "hop limit exceeded" : "TTL exceeded"
        case .parameterProblem: "parameter problem"
        case .sourceQuench: "source quench"
        }
    }

    private func reason(_ code: UInt8) -> String {
        let names =
            isV6
            ? [
                "no route", "prohibited", "beyond scope of source address", "address", "port", "source address policy",
                "route rejected",
            ]
            : [
                "network", "host", "protocol", "port", "fragmentation needed", "source route", "network unknown",
                "host unknown", "source isolated", "network prohibited", "host prohibited", "network for this service",
                "host for this service", "prohibited", "host precedence", "precedence cutoff",
            ]
        return Int(code) < names.count ? names[Int(code)] : "code \(code)"
    }
}

extension ICMPError {
    /// Parses the ICMP message at `start`; `nil` if it does not report an error about a TCP segment.
    init?(_ bytes: Span<UInt8>, isV6: Bool, at start: Int, from reporter: IPAddress) {
        guard let type = bytes.byte(at: start), let code = bytes.byte(at: start + 1),
            let kind = Self.kind(type, code, rest: bytes.big32(at: start + 4) ?? 0, isV6: isV6)
        else { return nil }
        let quote = start + 8
        guard let first = bytes.byte(at: quote) else { return nil }
        let (transport, source, destination): (Int, IPAddress?, IPAddress?)
        if first >> 4 == 4, !isV6 {
            // Only the first fragment of a datagram contains the ports.
            guard let fragmentation = bytes.big16(at: quote + 6), fragmentation & 0x1fff == 0,
                bytes.byte(at: quote + 9) == 6, first & 15 >= 5
            else { return nil }
            transport = quote + Int(first & 15) * 4
            source = bytes.big32(at: quote + 12).map { IPAddress(v4: $0) }
            destination = bytes.big32(at: quote + 16).map { IPAddress(v4: $0) }
        } else if first >> 4 == 6, isV6 {
            guard let found = Self.transport(bytes, at: quote) else { return nil }
            transport = found
            source = IPAddress(bytes: bytes.extracting(bytes.clamping(quote + 8..<quote + 24)))
            destination = IPAddress(bytes: bytes.extracting(bytes.clamping(quote + 24..<quote + 40)))
        } else {
            return nil
        }
        guard let source, let destination, let sourcePort = bytes.big16(at: transport),
            let destinationPort = bytes.big16(at: transport + 2), let sequence = bytes.big32(at: transport + 4)
        else { return nil }
        self.init(
            kind: kind, isV6: isV6, reporter: reporter, source: SocketEndpoint(address: source, port: sourcePort),
            destination: SocketEndpoint(address: destination, port: destinationPort),
            sequence: SequenceNumber(sequence))
    }

    private static func kind(_ type: UInt8, _ code: UInt8, rest: UInt32, isV6: Bool) -> Kind? {
        switch (isV6, type) {
        case (false, 3): code == 4 ? .tooBig(mtu: Int(rest & 0xffff)) : .unreachable(code: code)
        case (false, 4): .sourceQuench
        case (false, 11), (true, 3): .timeExceeded(isReassembly: code == 1)
        case (false, 12), (true, 4): .parameterProblem
        case (true, 1): .unreachable(code: code)
        case (true, 2): .tooBig(mtu: Int(rest))
        default: nil
        }
    }

    /// Returns the position of the TCP header in a quoted IPv6 packet; `nil` if the packet has no TCP header.
    private static func transport(_ bytes: Span<UInt8>, at quote: Int) -> Int? {
        guard var next = bytes.byte(at: quote + 6) else { return nil }
        var offset = quote + 40
        for _ in 0..<PacketDecoder.maxTags {
            switch next {
            case 6: return offset
            case 0, 43, 60:
                guard let following = bytes.byte(at: offset), let length = bytes.byte(at: offset + 1) else {
                    return nil
                }
                next = following
                offset += 8 + Int(length) * 8
            case 44:
                guard let following = bytes.byte(at: offset), let word = bytes.big16(at: offset + 2), word & 0xfff8 == 0
                else { return nil }
                next = following
                offset += 8
            default: return nil
            }
        }
        return nil
    }
}
