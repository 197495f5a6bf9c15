import ProbeBase
import ProbeTransport
import Testing

extension TransportConformance {
    /// "hi", nothing, and 200 bytes, each with its length before it.
    private static func stream(_ framing: Framing) -> [UInt8] {
        func prefix(_ length: Int) -> [UInt8] {
            switch framing {
            case .u8: [UInt8(length)]
            case .u16: [0, UInt8(length)]
            case .u32: [0, 0, 0, UInt8(length)]
            case .u64: [0, 0, 0, 0, 0, 0, 0, UInt8(length)]
            default: length < 128 ? [UInt8(length)] : [UInt8(length & 127 | 128), UInt8(length >> 7)]
            }
        }
        return messages.flatMap { prefix($0.count) + $0 }
    }

    private static let messages: [[UInt8]] = [[0x68, 0x69], [], [UInt8](repeating: 0x7a, count: 200)]
    private static let counted: [Framing] = [.u8, .u16, .u32, .u64, .varint]

    static let lengths: [ConformanceCheck] = [
        ConformanceCheck(
            "len.prefix-split-every-byte, two-small-frames-in-header-buffer, zero-length", needs: [.messages]
        ) {
            bench in
            for framing in counted where bench.supports(framing) {
                let stream = stream(framing)
                for pieces in [[stream], stream.map { [$0] }] {
                    let link = try bench.link(framing: framing)
                    try link.peer.write(pieces: pieces)
                    link.peer.halfClose()
                    try link.expect(messages.map { .message($0) } + [stopped(.eof)])
                }
            }
        },
        ConformanceCheck("len.sent", needs: [.messages, .send, .stop]) { bench in
            for framing in counted where bench.supports(framing) {
                let link = try bench.link(framing: framing)
                for message in messages { try link.transport.send(message) }
                try link.transport.stop()
                #expect(try link.peer.readToEnd().bytes == stream(framing))
                try link.expect([stopped(.stopped)])
            }
        },
        ConformanceCheck("len.too-long-to-say", needs: [.messages, .send, .stop]) { bench in
            let link = try bench.link(framing: .u8)
            #expect(throws: TransportError.invalid) { try link.transport.send([UInt8](repeating: 0, count: 256)) }
            try link.transport.stop()
            try link.expect([stopped(.stopped)])
        },
        ConformanceCheck("len.huge, negative, sum-overflow", needs: [.messages, .maxLine]) { bench in
            let hostile: [(Framing, [UInt8])] = [
                (.u16, [0x04, 0x01]), (.u32, [0x7f, 0xff, 0xff, 0xff]), (.u32, [0xff, 0xff, 0xff, 0xff]),
                (.u64, [0x7f] + [UInt8](repeating: 0xff, count: 7)), (.u64, [UInt8](repeating: 0xff, count: 8)),
                (.varint, [0x81, 0x08]), (.varint, [UInt8](repeating: 0xff, count: 9) + [0x01]),
            ]
            for (framing, length) in hostile where bench.supports(framing) {
                let link = try bench.link(framing: framing)
                try link.peer.write(length + [1, 2, 3])
                try link.expect([stopped(.tooLong)])
            }
        },
        ConformanceCheck("len.varint-too-long", needs: [.messages]) { bench in
            guard bench.supports(.varint) else { return }
            let link = try bench.link(framing: .varint)
            try link.peer.write([1, 0x61] + [UInt8](repeating: 0x80, count: 11))
            try link.expect([.message([0x61]), stopped(.protocol)])
        },
        ConformanceCheck("len.eof-mid-frame", needs: [.messages, .leftover]) { bench in
            for rest: [UInt8] in [[0], [0, 3], [0, 3, 0x61]] {
                let link = try bench.link(framing: .u16)
                try link.peer.write([0, 1, 0x62] + rest)
                link.peer.halfClose()
                try link.expect([.message([0x62]), .leftover(rest), stopped(.eof)])
            }
        },
        ConformanceCheck("frame.other-terminators") { bench in
            for (framing, end) in [(Framing.lf, UInt8(10)), (.cr, 13), (.nul, 0)]
            where bench.supports(framing) {
                let link = try bench.link(framing: framing)
                try link.peer.write(pieces: [[0x61, end, end], [0x62], [end, 0x63]])
                link.peer.halfClose()
                try link.expect([line("a"), line(""), line("b"), leftover("c"), stopped(.eof)])
            }
        },
    ]
}
