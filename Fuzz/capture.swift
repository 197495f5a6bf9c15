/// Capture files: both readers, decoding, fragments, reassembly and analysis. Compiled together with the sources of ProbeWire.
///
/// The first byte says how the rest is cut into chunks, none of which may change what comes out; the short way through the analysis
/// must come to the same as the long one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCapture(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let size = start[0] == 0 ? bytes.count : Int(start[0]) * 7
    let (whole, wholeError) = analysed(bytes, chunk: bytes.count, isShort: false)
    let (cut, cutError) = analysed(bytes, chunk: size, isShort: true)
    precondition(wholeError == cutError, "cuts change the error")
    precondition(whole.packetCount == cut.packetCount && whole.tcpPacketCount == cut.tcpPacketCount)
    precondition(whole.undecodableCount == cut.undecodableCount)
    precondition(whole.table.conversations.count == cut.table.conversations.count, "cuts change the connections")
    for (one, other) in zip(whole.table.conversations, cut.table.conversations) {
        precondition(String(reflecting: one) == String(reflecting: other), "cuts change a connection")
    }
    return 0
}

func analysed(_ bytes: [UInt8], chunk: Int, isShort: Bool) -> (CaptureAnalysis, CaptureFileError?) {
    var limits = ConversationLimits(keptBytes: 2_000, waitingBytes: 1_000, keptEvents: 8, totalBytes: 5_000)
    limits.mostConversations = 20
    var analysis = CaptureAnalysis(limits: limits)
    var reader = CaptureFileReader()
    var failure: CaptureFileError?
    do throws(CaptureFileError) {
        for start in stride(from: 0, to: bytes.count, by: max(chunk, 1)) {
            let part = bytes.span.extracting(start..<min(bytes.count, start + max(chunk, 1)))
            if isShort {
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
