import ProbeBase
import ProbeWire

/// Fuzzes capture files: the two file readers, decoding, fragments, reassembly and analysis. The fuzzer is compiled
/// with ProbeWire and ProbeBase only.
///
/// The first byte determines how the remaining input is divided into chunks. The division must not change the result.
/// The fast path through the analysis must produce the same result as the simple path. The merged results of two shares
/// of the connections must be the same as the result for all connections. Statements are judged on every connection.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCapture(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let size = start[0] == 0 ? bytes.count : Int(start[0]) * 7
    let (whole, wholeError) = analysed(bytes, chunk: bytes.count, isFast: false)
    let (cut, cutError) = analysed(bytes, chunk: size, isFast: true)
    precondition(wholeError == cutError, "cuts change the error")
    precondition(whole.packetCount == cut.packetCount && whole.tcpPacketCount == cut.tcpPacketCount)
    precondition(whole.undecodableCount == cut.undecodableCount && whole.others == cut.others)
    precondition(whole.table.conversations.count == cut.table.conversations.count, "cuts change the connections")
    for (one, other) in zip(whole.table.conversations, cut.table.conversations) {
        precondition(String(reflecting: one) == String(reflecting: other), "cuts change a connection")
        judge(one)
    }
    compareShares(bytes, chunk: size, whole)
    return 0
}

/// Compares the merged results of two shares with the result for all connections, unless a limit on the total was
/// reached.
func compareShares(_ bytes: [UInt8], chunk: Int, _ whole: CaptureAnalysis) {
    var (merged, _) = analysed(bytes, chunk: chunk, isFast: true, share: ConnectionShare(0, of: 2))
    let (other, _) = analysed(bytes, chunk: chunk, isFast: true, share: ConnectionShare(1, of: 2))
    let flows = merged.table.conversations.count + other.table.conversations.count
    if whole.table.peakHeldBytes > totalBytes || flows > maxConversations { return }
    merged.merge(other)
    precondition(whole.packetCount == merged.packetCount && whole.tcpPacketCount == merged.tcpPacketCount)
    precondition(whole.others == merged.others, "shares change the counts")
    for number in whole.table.conversations.indices {
        precondition(whole.icmpErrors.count(of: number) == merged.icmpErrors.count(of: number))
    }
    precondition(
        whole.undecodableCount == merged.undecodableCount && whole.firstError?.index == merged.firstError?.index)
    precondition(whole.table.conversations.count == merged.table.conversations.count, "shares change the connections")
    for (one, other) in zip(whole.table.conversations, merged.table.conversations) {
        precondition(String(reflecting: one) == String(reflecting: other), "shares change a connection")
    }
}

func judge(_ conversation: Conversation) {
    for side in ConversationSide.allCases {
        let flows: [HalfConnectionStatement<Resolved>] = [
            .bytes([0, 1, 2, 3]), .segmentCount(.less, 4), .segments([[0, 1], [2, 3]]),
            .gap(index: nil, .less, .nanoseconds(5)), .largestSegment(.equal, 9), .longestLine(.less, 80),
            .lines(.crlf),
            .lines(.lf), .lines(.cr), .lines(.nul), .messages(.greater, 1, .u16), .messages(.greater, 1, .varint),
            .firstByte(within: .nanoseconds(5)), .zeroWindow, .window(.less, 9), .urgent, .retransmissions(.equal, 0),
            .records(.less, 3), .tls(fromStart: false), .tls(fromStart: true), .lacks([0, 1, 0, 2]),
        ]
        for flow in flows { _ = conversation.judge(.halfConnection(flow, from: side)) }
        _ = conversation.judge(.closedFirst(by: side))
    }
    _ = conversation.judge(.handshakeComplete)
    _ = conversation.judge(.noRetransmission)
}

let maxConversations = 20
let totalBytes = 5_000

func analysed(
    _ bytes: [UInt8], chunk: Int, isFast: Bool, share: ConnectionShare = .all
) -> (CaptureAnalysis, CaptureFileError?) {
    var limits = ConversationLimits(keptBytes: 2_000, waitingBytes: 1_000, keptEvents: 8, totalBytes: totalBytes)
    limits.maxConversations = maxConversations
    limits.quotes = bytes.count % 2 == 0
    if bytes.count % 3 == 0 { limits.gapTolerance = .memory }
    var analysis = CaptureAnalysis(limits: limits, share: share)
    var reader = CaptureFileReader()
    var failure: CaptureFileError?
    do throws(CaptureFileError) {
        for start in stride(from: 0, to: bytes.count, by: max(chunk, 1)) {
            let part = bytes.span.extracting(start..<min(bytes.count, start + max(chunk, 1)))
            if isFast {
                try analysis.pass(part, through: &reader) { _, summary in _ = summary.marks }
            } else {
                try reader.feed(part) { record, packet in
                    analysis.add(
                        packet, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                        index: record.index)
                }
            }
        }
        try reader.finish()
    } catch {
        failure = error
    }
    analysis.finish()
    return (analysis, failure)
}
