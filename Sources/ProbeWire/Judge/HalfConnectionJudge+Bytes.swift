import ProbeBase

extension HalfConnectionJudge {
    /// The whole stream so far against `expected`.
    func judgeBytes(_ expected: [UInt8]) -> WireVerdict {
        let actual = flow.stream.firstBytes
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        func failure(_ summary: String) -> WireFailure {
            WireFailure(summary, expected: expected, actual: Array(actual), details: nearMiss(expected, Array(actual)))
        }
        if common < expected.count, common < actual.count {
            return .failed(failure("\(name) sent other bytes: the first difference is at offset \(common)"))
        }
        if actual.count > expected.count {
            let surplus = actual.count - expected.count
            return .failed(failure("\(name) sent \(ByteText.count(surplus, "byte")) more than expected"))
        }
        if actual.count == expected.count {
            let beyond = flow.stream.deliveredLength - Int64(actual.count)
            if beyond > 0, !flow.stream.isKeptWhole {
                return .failed(
                    failure("\(name) sent \(ByteText.count(Int(clamping: beyond), "byte")) more than expected"))
            }
            guard let missing = flow.missing else { return .passed }
            return missing.offset >= Int64(actual.count)
                ? .failed(
                    failure(
                        "\(name) sent more than expected: \(ByteText.count(Int(missing.length), "byte")), not captured")
                )
                : .passed
        }
        if let lost { return .inconclusive(lost) }
        if let unkept { return .inconclusive(unkept) }
        let rest = expected.count - actual.count
        let summary =
            actual.isEmpty
            ? "nothing from \(name), \(ByteText.count(rest, "byte")) expected"
            : "\(ByteText.count(rest, "byte")) of \(name) missing behind the first \(actual.count)"
        return canGrow ? .waiting(failure(summary)) : .failed(failure(summary + ", and no more can come"))
    }

    /// What is probably meant, where the two differ only in their line ends or in their end.
    private func nearMiss(_ expected: [UInt8], _ actual: [UInt8]) -> [String] {
        guard expected.contains(0x0a) || actual.contains(0x0a) else { return [] }
        func hasCRLF(_ bytes: [UInt8]) -> Bool { zip(bytes, bytes.dropFirst()).contains { $0 == 0x0d && $1 == 0x0a } }
        guard expected != actual, expected.filter({ $0 != 0x0d }) == actual.filter({ $0 != 0x0d }) else { return [] }
        if hasCRLF(expected), !hasCRLF(actual) { return ["LF instead of CRLF"] }
        if hasCRLF(actual), !hasCRLF(expected) { return ["CRLF instead of LF"] }
        return ["only the CRs differ"]
    }

    // MARK: Lines

    func judgeLines(_ framing: Framing) -> WireVerdict {
        let lines = flow.stream.lines
        switch framing {
        case .crlf:
            if let failure = flow.stream.bareLineEnd(of: name) { return .failed(failure) }
            return judgeEnds(count: lines.crlfCount, terminator: "CRLF", unfinished: lines.unfinishedLength)
        case .lf:
            if lines.crlfCount > 0 {
                return .failed(
                    WireFailure("\(ByteText.count(lines.crlfCount, "line")) of \(name) end with CRLF instead of LF"))
            }
            return judgeEnds(count: lines.bareLFCount, terminator: "LF", unfinished: lines.unfinishedLength)
        case .cr:
            if lines.lineCount > 0 {
                return .failed(
                    WireFailure("\(name) sent an LF where lines end with CR alone", details: ["first LF: line 1"]))
            }
            let count = lines.bareCRCount + (lines.endsWithCR ? 1 : 0)
            return judgeEnds(
                count: count, terminator: "CR", unfinished: lines.endsWithCR ? 0 : lines.unfinishedLength)
        case .nul:
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            let bytes = flow.stream.bytes
            let tail = bytes.count - (bytes.lastIndex(of: 0).map { $0 + 1 } ?? 0)
            return judgeEnds(count: bytes.count { $0 == 0 }, terminator: "NUL", unfinished: Int64(tail))
        case .delimiter:
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            var decoder = FrameDecoder(framing: framing, limit: nil)
            decoder.append(flow.stream.bytes)
            var count = 0
            // `try?`: without a limit there are no bytes that break this framing, so `next` throws nothing here.
            while (try? decoder.next()) != nil { count += 1 }
            return judgeEnds(count: count, terminator: framing.rawValue, unfinished: Int64(decoder.pending.count))
        case .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none:
            return .failed(
                WireFailure(
                    "there are no lines in the framing \(framing.rawValue): lines end with crlf, lf, cr, nul or a delimiter"
                ))
        }
    }

    private func judgeEnds(count: Int, terminator: String, unfinished: Int64) -> WireVerdict {
        if let lost { return .inconclusive(lost) }
        if unfinished > 0 {
            return nothing(
                "the last line of \(name) has no \(terminator): \(ByteText.count(Int(clamping: unfinished), "byte")) "
                    + "stand behind the last one", details: tail(unfinished))
        }
        return count == 0 ? nothing("no line from \(name)") : .passed
    }

    private func tail(_ length: Int64) -> [String] {
        if flow.stream.isKeptWhole {
            return ["unfinished: " + Escaped.excerpt(flow.stream.bytes.suffix(Int(clamping: length)))]
        }
        let head = flow.stream.lines.unfinishedHead
        guard !head.isEmpty else { return [] }
        let more = Int64(head.count) < length ? "… (\(ByteText.count(Int(clamping: length), "byte")))" : ""
        return ["unfinished: " + Escaped.excerpt(head) + more]
    }

    func judgeLongestLine(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let lines = flow.stream.lines
        // An unfinished line is at least as long as it is now, but for a CR at its end.
        let open = lines.unfinishedLength - (lines.endsWithCR ? 1 : 0)
        if lines.lineCount == 0, open <= 0 {
            if let lost { return .inconclusive(lost) }
            return nothing("no line from \(name)")
        }
        let longest = Int(clamping: max(lines.longestContent, open))
        let number = open > lines.longestContent ? lines.lineCount + 1 : lines.longestLine
        let monotonic = MonotonicBound(longest, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "the longest line of \(name) has \(ByteText.count(longest, "byte")), \(comparison.rawValue) \(bound) "
                    + "expected", details: ["it is line \(number) of \(lines.lineCount + (open > 0 ? 1 : 0))"]))
    }
}

extension StreamAssembler {
    /// The first LF or CR that stands alone, as a failure of `name`; nil where none does.
    ///
    /// Not of `HalfConnectionJudge`, which would copy the flow: a capture may have one in each of thousands.
    func bareLineEnd(of name: String) -> WireFailure? {
        guard lines.hasBare else { return nil }
        let offset = min(lines.firstBareLF ?? .max, lines.firstBareCR ?? .max)
        let isLF = offset == lines.firstBareLF
        let count = isLF ? lines.bareLFCount : lines.bareCRCount
        let what: StaticString = isLF ? "LF without CR" : "CR without LF"
        let article: StaticString = isLF ? "an" : "a"
        let summary: TextBytes = "\(name) sent \(article) \(what) at offset \(Int(offset))"
        let counts: TextBytes = "\(what): \(count) in all; lines that end right: \(lines.crlfCount)"
        return WireFailure(summary.string, details: [context(at: offset), counts.string].compactMap(\.self))
    }

    /// What stands around a line end.
    private func context(at delivered: Int64) -> String? {
        // Ends where its segment did.
        var there = lines.bareExcerpt[...]
        if limits.keptBytes > 0, delivered < Int64(bytes.count) {
            there = bytes[max(0, Int(delivered) - 24)..<min(bytes.count, Int(delivered) + 9)]
        }
        guard !there.isEmpty else { return nil }
        let text: TextBytes = "there: \(quoted: there)"
        return text.string
    }
}
