extension FlowJudge {
    /// Whole messages so far; an unfinished one behind them is none.
    func judgeMessages(_ comparison: WireComparison, _ bound: Int, _ framing: WireFraming) -> WireVerdict {
        let lines = flow.stream.lines
        let count: Int
        switch framing {
        case .crlf: count = lines.crlfCount
        case .lf: count = lines.lineCount
        case .cr, .nul, .u8, .u16, .u32, .u64, .varint:
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            count = Self.count(flow.stream.bytes.span, framing)
        case .none:
            return .failed(WireFailure("there are no messages in the framing none"))
        }
        if count == 0, !(comparison == .equal && bound == 0) {
            if let lost { return .inconclusive(lost) }
            return nothing("no message (\(framing.rawValue)) from \(name)")
        }
        let growth = Growth(count, comparison, bound, canGrow: canGrow)
        if let lost, growth.isUnsettled(comparison) { return .inconclusive(lost) }
        return growth.verdict(
            WireFailure(
                "\(ByteText.count(count, "message")) (\(framing.rawValue)) from \(name), "
                    + "\(comparison.rawValue) \(bound) expected"))
    }

    /// Walks over terminators or length prefixes; a length that reaches beyond the bytes ends the count.
    static func count(_ bytes: Span<UInt8>, _ framing: WireFraming) -> Int {
        var count = 0
        var offset = 0
        while offset < bytes.count {
            var length: UInt64 = 0
            let header: Int
            switch framing {
            case .cr, .nul:
                count += bytes[offset] == (framing == .cr ? 0x0d : 0) ? 1 : 0
                offset += 1
                continue
            case .u8:
                header = 1
                length = UInt64(bytes[offset])
            case .u16:
                header = 2
                length = bytes.big16(at: offset).map(UInt64.init) ?? UInt64.max
            case .u32:
                header = 4
                length = bytes.big32(at: offset).map(UInt64.init) ?? UInt64.max
            case .u64:
                header = 8
                length = bytes.big64(at: offset) ?? UInt64.max
            case .varint:
                (length, header) = varint(bytes, at: offset)
            case .crlf, .lf, .none:
                return count
            }
            // Compared before anything is added: a hostile length must not overflow.
            let room = bytes.count - offset - header
            guard room >= 0, length <= UInt64(room) else { return count }
            offset += header + Int(length)
            count += 1
        }
        return count
    }

    /// Seven bits a byte, the lowest first, ten bytes at most; `UInt64.max` where it is not whole.
    private static func varint(_ bytes: Span<UInt8>, at offset: Int) -> (UInt64, Int) {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard let byte = bytes.byte(at: offset + index) else { break }
            value |= UInt64(byte & 0x7f) << UInt64(7 * index)
            if byte & 0x80 == 0 { return (value, index + 1) }
        }
        return (UInt64.max, 1)
    }
}
