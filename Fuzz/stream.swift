import ProbeBase
import ProbeWire

/// Fuzzes connections whose packets are constructed from the input: reassembly, classification and all judgments. The
/// fuzzer is compiled with ProbeWire and ProbeBase only.
///
/// Each packet is constructed from eight bytes: sender and flags, the differences between the sequence and
/// acknowledgment numbers and the correct ones, window, length, captured length and time. All results must be
/// consistent with each other.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStream(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard let first = input.first else { return 0 }
    let timed = table(of: input, first, timeUnit: 100_000)
    for conversation in timed.conversations { look(at: conversation) }
    // The times of the packets must not affect the streams.
    let untimed = table(of: input, first, timeUnit: 0)
    precondition(untimed.conversations.count == timed.conversations.count)
    for (one, other) in zip(timed.conversations, untimed.conversations) {
        for side in ConversationSide.allCases {
            let (stream, still) = (one.halfConnection(from: side).stream, other.halfConnection(from: side).stream)
            precondition(stream.bytes == still.bytes && stream.gaps == still.gaps, "times change a stream")
        }
    }
    return 0
}

private func table(
    of input: UnsafeBufferPointer<UInt8>, _ first: UInt8, timeUnit: UInt64
) -> ConversationTable {
    let client = SocketEndpoint(address: .loopbackV4, port: 1)
    let server = SocketEndpoint(address: .loopbackV6, port: 2)
    var limits = ConversationLimits(
        keptBytes: Int(first) * 8, waitingBytes: 700, keptEvents: Int(first) % 9, totalBytes: 3_000)
    if first % 2 == 0 { limits.gapTolerance = .memory }
    var table = ConversationTable(limits: limits)
    let text = (0..<512).map { (index: Int) -> UInt8 in
        switch index % 7 {
        case 5: 0x0d
        case 6: 0x0a
        default: UInt8(index & 0xff)
        }
    }
    var next: [UInt32] = [UInt32.max - 300, 5]
    var time: UInt64 = 1 << 40
    for packet in stride(from: 1, to: input.count - 7, by: 8) {
        let side = Int(input[packet] & 1)
        let length = Int(input[packet + 5]) * 2
        let captured = input[packet + 6] > 200 ? length * Int(input[packet + 6] - 200) / 56 : length
        var tcp = DecodedTCP(
            source: side == 0 ? client : server, destination: side == 0 ? server : client,
            sequence: SequenceNumber(next[side]) + distance(input[packet + 1]),
            acknowledgment: SequenceNumber(next[1 - side]) + distance(input[packet + 2]),
            flags: TCPFlags(rawValue: UInt16(input[packet] >> 1) & 0x3f), window: UInt16(input[packet + 3]) * 257,
            urgentPointer: UInt16(input[packet + 4]), payload: 0..<captured, payloadLength: length)
        tcp.options.isSACKPermitted = input[packet + 4] & 1 == 0
        tcp.options.windowScale = input[packet + 4] & 2 == 0 ? input[packet + 4] >> 2 : nil
        if input[packet + 4] & 64 != 0 { tcp.options.timestamp = TCPTimestamp(value: UInt32(packet), echo: 3) }
        if input[packet + 4] & 128 != 0 {
            tcp.options.sack.append(SACKBlock(start: tcp.acknowledgment + -9, end: tcp.acknowledgment + -2))
        }
        if input[packet + 1] < 128 { next[side] &+= UInt32(length) + (tcp.isSYN || tcp.flags.contains(.fin) ? 1 : 0) }
        time &+= UInt64(input[packet + 7]) * timeUnit
        let from = Int(input[packet + 6]) % 3
        let payload = text.span.extracting(from..<from + min(captured, text.count - from))
        tcp.payload = 0..<payload.count
        if tcp.payloadLength < payload.count { tcp.payloadLength = payload.count }
        _ = table.add(tcp, payload: payload, time: time).marks
    }
    table.finish()
    return table
}

/// Returns a difference that is usually 0, sometimes small and occasionally arbitrary.
private func distance(_ byte: UInt8) -> Int {
    switch byte {
    case 0..<128: 0
    case 128..<250: (Int(byte) - 190) * 5
    default: Int(byte) << 24
    }
}

private func look(at conversation: Conversation) {
    for side in ConversationSide.allCases {
        let half = conversation.halfConnection(from: side)
        precondition(Int64(half.stream.bytes.count) <= half.stream.deliveredLength)
        precondition(half.segments.count <= half.segmentCount)
        var end: Int64 = 0
        for gap in half.stream.gaps {
            precondition(gap.length > 0 && gap.offset >= end, "gaps are in order")
            end = gap.end
        }
        for assertion in assertions(side) {
            _ = conversation.judge(assertion)
        }
        _ = conversation.verifyPieces(from: side, streamOffset: 0, lengths: [1, 5, 200])
    }
}

private func assertions(_ side: ConversationSide) -> [WireAssertion] {
    var all: [WireAssertion] = [
        .fin(from: side), .rst(from: side), .noReset, .closedFirst(by: side), .handshakeComplete, .noRetransmission,
        .packets(.greater, 3),
    ]
    let flows: [HalfConnectionStatement<Resolved>] = [
        .bytes([0, 1, 2, 3]), .segmentCount(.less, 4), .segments([[0, 1], [2, 3]]),
        .gap(index: 1, .greater, .nanoseconds(5)),
        .gap(index: nil, .less, .nanoseconds(5)), .largestSegment(.equal, 9), .longestLine(.less, 80), .lines(.crlf),
        .lines(.lf),
        .lines(.cr), .lines(.nul), .messages(.greater, 1, .u16), .messages(.greater, 1, .varint),
        .firstByte(within: .nanoseconds(5)),
        .zeroWindow, .window(.less, 9), .urgent, .retransmissions(.equal, 0), .records(.greater, 2),
        .tls(fromStart: false),
        .tls(fromStart: true), .lacks([0, 1, 0, 2]),
    ]
    all += flows.map { .halfConnection($0, from: side) }
    return all
}
