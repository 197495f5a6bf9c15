import ProbeBase

extension HalfConnectionJudge {
    /// Whole messages so far; an unfinished one behind them is none.
    func judgeMessages(_ comparison: Comparison, _ bound: Int, _ framing: Framing) -> WireVerdict {
        let lines = flow.stream.lines
        var count = 0
        var damage: String?
        switch framing {
        case .crlf: count = lines.crlfCount
        case .lf: count = lines.lineCount
        case .cr, .nul, .delimiter, .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring:
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            (count, damage) = Self.count(flow.stream.bytes, framing)
        case .websocket: return judgeWebSocketMessages(comparison, bound)
        case .none:
            return .failed(WireFailure("there are no messages in the framing \(framing.rawValue)"))
        }
        if let damage {
            return .failed(
                WireFailure(
                    "what \(name) sent is no series of messages (\(framing.rawValue)): \(damage)",
                    details: ["\(ByteText.count(count, "message")) before that"]))
        }
        if count == 0, !(comparison == .equal && bound == 0) {
            if let lost { return .inconclusive(lost) }
            return nothing("no message (\(framing.rawValue)) from \(name)")
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "\(ByteText.count(count, "message")) (\(framing.rawValue)) from \(name), "
                    + "\(comparison.rawValue) \(bound) expected"))
    }

    /// Whole messages, and what makes the rest unreadable.
    private static func count(_ bytes: [UInt8], _ framing: Framing) -> (Int, damage: String?) {
        var decoder = FrameDecoder(framing: framing, limit: nil)
        decoder.append(bytes)
        var count = 0
        do throws(FrameError) {
            while try decoder.next() != nil { count += 1 }
            return (count, nil)
        } catch {
            return (count, "\(error)")
        }
    }
}
