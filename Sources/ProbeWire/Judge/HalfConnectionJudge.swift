import ProbeBase

/// Judges statements about what one side sent.
struct HalfConnectionJudge {
    let conversation: Conversation
    let side: ConversationSide
    let names: SideNames

    /// The flow from this side, read in place, because a capture may have thousands of flows.
    var flow: HalfConnection {
        _read { if side == .client { yield conversation.fromClient } else { yield conversation.fromServer } }
    }

    init(conversation: Conversation, side: ConversationSide, names: SideNames) {
        self.conversation = conversation
        self.side = side
        self.names = names
    }

    var name: String { names[side] }

    /// Whether more data can arrive from this side.
    var canGrow: Bool {
        !flow.isComplete && flow.rst == nil && conversation.halfConnection(from: side.opposite).rst == nil
    }

    // MARK: Shared by several statements

    /// Returns the verdict if there is nothing to judge: `waiting` while more data can still arrive, otherwise
    /// `failed`.
    func nothing(_ summary: String, details: [String] = []) -> WireVerdict {
        let failure = WireFailure(summary, details: details.isEmpty ? conversation.closeDetails(names) : details)
        return canGrow ? .waiting(failure) : .failed(failure)
    }

    /// A description of the bytes that are permanently missing; `nil` if nothing is missing or the missing bytes may
    /// still arrive.
    var lost: String? {
        guard let missing = flow.missing, let cause = missing.cause else { return nil }
        let length = Int(clamping: missing.length)
        let noun: StaticString = length == 1 ? "byte" : "bytes"
        let why: StaticString =
            switch (cause, length) {
            case (.notCaptured, 1): "is missing from the capture"
            case (.notCaptured, _): "are missing from the capture"
            case (.cutShort, 1): "was cut off by the capture's snap length"
            case (.cutShort, _): "were cut off by the capture's snap length"
            case (.limitReached, _): "did not arrive before the memory for later data was used up"
            }
        let text: TextBytes = "\(length) \(noun) from \(name) at offset \(Int(clamping: missing.offset)) \(why)"
        return text.string
    }

    /// A description of the bytes that were captured but not kept; `nil` if all were kept.
    var unkept: String? {
        flow.stream.isKeptWhole
            ? nil : "only the first \(ByteText.count(flow.stream.bytes.count, "byte")) from \(name) were kept"
    }

    func judgeZeroWindow() -> WireVerdict {
        if flow.window.shutCount > 0 { return .passed }
        let smallest = flow.window.smallest.map { ["the smallest window was \(ByteText.count($0, "byte"))"] } ?? []
        let failure = WireFailure("\(name) never closed its window", details: smallest)
        return conversation.isClosed ? .failed(failure) : .waiting(failure)
    }

    func judgeWindow(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        guard let largest = flow.window.largest else {
            return nothing("the capture contains no window advertised by \(name)")
        }
        if flow.window.hasUnknownScale {
            return .inconclusive(
                "the capture does not contain both SYNs, so the scale factor of the windows is unknown")
        }
        return MonotonicBound(largest, comparison, bound, canGrow: !conversation.isClosed).verdict(
            WireFailure(
                "the largest window of \(name) is \(ByteText.count(largest, "byte")), expected \(comparison.phrase(bound))"
            ))
    }

    /// Judges the number of retransmissions. A definite or possible tail-loss probe is counted if it replaced a lost
    /// segment.
    func judgeRetransmissions(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let count = flow.retransmissionCount
        if comparison.holds(count, bound) != comparison.holds(count + flow.doubtfulCount, bound),
            let doubt = conversation.repeatDoubt(of: side, names)
        {
            return .inconclusive(doubt)
        }
        return MonotonicBound(count, comparison, bound, canGrow: canGrow).verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, "retransmission")), expected \(comparison.phrase(bound))",
                details: conversation.retransmissionDetails(from: side, names)))
    }

    func judgeFirstByte(within bound: Int64) -> WireVerdict {
        guard let first = flow.segments.min(by: { $0.offset < $1.offset }), first.offset == 0 else {
            if let lost { return .inconclusive(lost) }
            return nothing("the capture contains no data from \(name)")
        }
        guard let handshake = conversation.handshakeTime else {
            return .inconclusive("the end of the handshake was not captured")
        }
        // Data may have an earlier timestamp than the end of the handshake, because the timestamps of the two
        // directions may be out of order.
        let delay = max(0, DurationText.difference(from: handshake, to: first.time))
        if delay <= bound { return .passed }
        return .failed(
            WireFailure(
                "\(name) sent its first byte \(DurationText.text(nanoseconds: delay)) after the handshake, "
                    + "\(DurationText.text(nanoseconds: delay - bound)) too late"))
    }
}

extension HalfConnectionJudge {
    /// Compares the stream captured so far with `expected`.
    func judgeBytes(_ expected: [UInt8]) -> WireVerdict {
        let actual = flow.stream.firstBytes
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        func failure(_ summary: String) -> WireFailure {
            WireFailure(summary, expected: expected, actual: Array(actual), details: nearMiss(expected, Array(actual)))
        }
        if common < expected.count, common < actual.count {
            return .failed(failure("\(name) sent unexpected bytes; first difference at offset \(common)"))
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
                        "\(name) sent \(ByteText.count(Int(missing.length), "byte")) more than expected, but the "
                            + "surplus was not captured")
                )
                : .passed
        }
        if let lost { return .inconclusive(lost) }
        if let unkept { return .inconclusive(unkept) }
        let rest = expected.count - actual.count
        let summary =
            actual.isEmpty
            ? "\(name) sent nothing, expected \(ByteText.count(rest, "byte"))"
            : "\(name) sent only the first \(actual.count) of \(ByteText.count(expected.count, "expected byte"))"
        return canGrow ? .waiting(failure(summary)) : .failed(failure(summary + ", and no more can arrive"))
    }

    /// Returns hints if the expected and the actual bytes differ only in their line ends, or only at their end.
    private func nearMiss(_ expected: [UInt8], _ actual: [UInt8]) -> [String] {
        guard expected.contains(0x0a) || actual.contains(0x0a) else { return [] }
        func hasCRLF(_ bytes: [UInt8]) -> Bool { zip(bytes, bytes.dropFirst()).contains { $0 == 0x0d && $1 == 0x0a } }
        guard expected != actual, expected.filter({ $0 != 0x0d }) == actual.filter({ $0 != 0x0d }) else { return [] }
        if hasCRLF(expected), !hasCRLF(actual) { return ["check the terminator: received LF instead of CRLF"] }
        if hasCRLF(actual), !hasCRLF(expected) { return ["check the terminator: received CRLF instead of LF"] }
        return ["check the CR characters: nothing else differs"]
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
                    WireFailure("\(name) ended \(ByteText.count(lines.crlfCount, "line")) with CRLF instead of LF"))
            }
            return judgeEnds(count: lines.bareLFCount, terminator: "LF", unfinished: lines.unfinishedLength)
        case .cr:
            if lines.lineCount > 0 {
                return .failed(
                    WireFailure(
                        "\(name) sent an LF, expected lines that end with CR alone", details: ["first LF: line 1"]))
            }
            let count = lines.bareCRCount + (lines.endsWithCR ? 1 : 0)
            return judgeEnds(
                count: count, terminator: "CR", unfinished: lines.endsWithCR ? 0 : lines.unfinishedLength)
        default:
            guard framing.unit == .line else {
                return .failed(
                    WireFailure(
                        "the framing \(framing.rawValue) has no lines: lines end with \(Framing.lineWords)"))
            }
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            let units = Self.units(of: flow.stream.bytes, framing)
            return judgeEnds(
                count: units.count, terminator: framing.terminatorName, unfinished: Int64(units.unfinished))
        }
    }

    private func judgeEnds(count: Int, terminator: String, unfinished: Int64) -> WireVerdict {
        if let lost { return .inconclusive(lost) }
        if unfinished > 0 {
            return nothing(
                "\(name) sent an unfinished last line: \(ByteText.count(Int(clamping: unfinished), "byte")) "
                    + "without \(terminator)", details: tail(unfinished))
        }
        return count == 0 ? nothing("the capture contains no line from \(name)") : .passed
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
        // An unfinished line has at least its current length, excluding a CR at its end, which may belong to the line
        // end.
        let open = lines.unfinishedLength - (lines.endsWithCR ? 1 : 0)
        if lines.lineCount == 0, open <= 0 {
            if let lost { return .inconclusive(lost) }
            return nothing("the capture contains no line from \(name)")
        }
        let longest = Int(clamping: max(lines.longestContent, open))
        let number = open > lines.longestContent ? lines.lineCount + 1 : lines.longestLine
        let monotonic = MonotonicBound(longest, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "the longest line from \(name) has \(ByteText.count(longest, "byte")), "
                    + "expected \(comparison.phrase(bound))",
                details: ["the longest line is line \(number) of \(lines.lineCount + (open > 0 ? 1 : 0))"]))
    }
}

extension StreamAssembler {
    /// Returns a failure that describes the first bare LF or CR from the side `name`; `nil` if the side sent no bare LF
    /// or CR.
    ///
    /// This function is not a member of `HalfConnectionJudge`, because creating a judge copies the flow, and a capture
    /// may have a bare line end in each of thousands of flows.
    func bareLineEnd(of name: String) -> WireFailure? {
        guard lines.hasBare else { return nil }
        let offset = min(lines.firstBareLF ?? .max, lines.firstBareCR ?? .max)
        let isLF = offset == lines.firstBareLF
        let count = isLF ? lines.bareLFCount : lines.bareCRCount
        let what: StaticString = isLF ? "LF without CR" : "CR without LF"
        let article: StaticString = isLF ? "an" : "a"
        let summary: TextBytes = "\(name) sent \(article) \(what) at offset \(Int(offset))"
        let counts: TextBytes = "\(what): \(count) in total; lines that end with CRLF: \(lines.crlfCount)"
        return WireFailure(summary.string, details: [context(at: offset), counts.string].compactMap(\.self))
    }

    /// Returns the bytes around a line end, quoted; `nil` if they were not kept.
    private func context(at delivered: Int64) -> String? {
        // The excerpt around a line end never extends beyond one segment. If bytes of the stream are kept, they are
        // used instead of the excerpt.
        var there = lines.bareExcerpt[...]
        if limits.keptBytes > 0, delivered < Int64(bytes.count) {
            there = bytes[max(0, Int(delivered) - 24)..<min(bytes.count, Int(delivered) + 9)]
        }
        guard !there.isEmpty else { return nil }
        let text: TextBytes = "context: \(quoted: there)"
        return text.string
    }
}

extension HalfConnectionJudge {
    /// Judges the number of complete messages so far. An unfinished message at the end is not counted.
    func judgeMessages(_ comparison: Comparison, _ bound: Int, _ framing: Framing) -> WireVerdict {
        let lines = flow.stream.lines
        var count = 0
        var damage: String?
        switch framing {
        case .crlf: count = lines.crlfCount
        case .lf: count = lines.lineCount
        case .websocket: return judgeWebSocketMessages(comparison, bound)
        case .none:
            return .failed(WireFailure("the framing \(framing.rawValue) has no messages"))
        default:
            if let lost { return .inconclusive(lost) }
            if let unkept { return .inconclusive(unkept) }
            (count, _, damage) = Self.units(of: flow.stream.bytes, framing)
        }
        if let damage {
            return .failed(
                WireFailure(
                    "\(name) sent data that is not a sequence of messages (\(framing.rawValue)): \(damage)",
                    details: ["\(ByteText.count(count, "message")) before it"]))
        }
        if count == 0, !(comparison == .equal && bound == 0) {
            if let lost { return .inconclusive(lost) }
            return nothing("the capture contains no message (\(framing.rawValue)) from \(name)")
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, "message")) (\(framing.rawValue)), "
                    + "expected \(comparison.phrase(bound))"))
    }

    /// Returns the number of complete messages, the number of bytes after the last message, and a description of what
    /// makes these bytes unreadable, if anything.
    private static func units(
        of bytes: [UInt8], _ framing: Framing
    ) -> (count: Int, unfinished: Int, damage: String?) {
        var decoder = FrameDecoder(framing: framing, limit: nil)
        decoder.append(bytes)
        var count = 0
        do throws(FrameError) {
            while try decoder.next() != nil { count += 1 }
            return (count, decoder.pending.count, nil)
        } catch {
            return (count, decoder.pending.count, "\(error)")
        }
    }
}

extension HalfConnectionJudge {
    private var tooMany: String? {
        flow.segments.count < flow.segmentCount
            ? "only the first \(flow.segments.count) segments from \(name) were kept" : nil
    }

    /// The reason why a statement that agrees with all captured data is still uncertain; `nil` if nothing is missing.
    private var doubt: String? { lost ?? tooMany }

    func judgeSegmentCount(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let count = flow.segmentCount
        // If there are no segments, only `segments 0` can pass; any other statement about segments is vacuous.
        if count == 0, !(comparison == .equal && bound == 0) {
            if let lost { return .inconclusive(lost) }
            return nothing("the capture contains no data segment from \(name)")
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, "data segment")), expected \(comparison.phrase(bound))",
                details: list(flow.segments, title: "segment")))
    }

    /// Compares the segments with `expected`. Segments are sorted by their offset in the stream, so the order in which
    /// they were captured does not matter.
    func judgeSegments(_ expected: [[UInt8]]) -> WireVerdict {
        let actual = flow.segments.sorted { $0.offset < $1.offset }
        let missingOffset = flow.missing?.offset ?? Int64.max
        func failure(_ summary: String) -> WireFailure {
            WireFailure(summary, details: comparisonDetails(expected, actual))
        }
        for (index, segment) in actual.enumerated() {
            if segment.offset > missingOffset, flow.missing?.cause != .cutShort { break }
            guard index < expected.count else {
                return .failed(
                    failure(
                        "\(name) sent \(ByteText.count(actual.count, "data segment")), expected \(expected.count)"))
            }
            let bytes = flow.stream.kept(segment.offset..<segment.end) ?? []
            if segment.isCut {
                let isPossible = segment.length == expected[index].count && expected[index].starts(with: bytes)
                if isPossible { return .inconclusive("segment \(index + 1) from \(name) was cut short by the capture") }
            } else if bytes.count < segment.length {
                return .inconclusive(unkept ?? lost ?? "segment \(index + 1) from \(name) was not kept")
            }
            if !bytes.elementsEqual(expected[index]) { return .failed(failure(difference(index, bytes, expected))) }
        }
        if let doubt { return .inconclusive(doubt) }
        if actual.isEmpty { return nothing("the capture contains no data segment from \(name)") }
        if actual.count < expected.count {
            let summary = "\(name) sent only \(actual.count) of \(expected.count) expected data segments"
            return canGrow ? .waiting(failure(summary)) : .failed(failure(summary + ", and no more can arrive"))
        }
        return flow.missing == nil ? .passed : .waiting(failure("bytes from \(name) are still missing"))
    }

    private func difference(_ index: Int, _ bytes: ArraySlice<UInt8>, _ expected: [[UInt8]]) -> String {
        let wanted = Array(expected.joined())
        let seen = flow.stream.firstBytes
        let isSegmentedDifferently = wanted.starts(with: seen)
        if isSegmentedDifferently { return "\(name) sent the expected bytes, but in different segments" }
        return "\(name) sent unexpected bytes in data segment \(index + 1)"
    }

    private func comparisonDetails(_ expected: [[UInt8]], _ actual: [DataSegment]) -> [String] {
        let wanted = expected.prefix(12).enumerated().map { "expected \($0 + 1): \(Escaped.excerpt($1, limit: 48))" }
        let more = expected.count > 12 ? ["expected … \(expected.count) in total"] : []
        return wanted + more + list(actual, title: "seen")
    }

    private func list(_ segments: [DataSegment], title: String) -> [String] {
        if segments.isEmpty { return ["\(title): none"] }
        let lines = segments.prefix(12).enumerated().map { index, segment in
            let bytes = flow.stream.kept(segment.offset..<segment.end)
            let text = bytes.map { Escaped.excerpt($0, limit: 48) } ?? ByteText.count(segment.length, "byte")
            let cut = segment.isCut ? " (cut short by the capture)" : ""
            return "\(title) \(index + 1): \(text)\(cut) \(conversation.elapsed(segment.time, names))"
        }
        return lines + (segments.count > 12 ? ["\(title) … \(segments.count) in total"] : [])
    }

    // MARK: Sizes and times

    func judgeLargestSegment(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        guard flow.segmentCount > 0 else {
            if let lost { return .inconclusive(lost) }
            return nothing("the capture contains no data segment from \(name)")
        }
        let monotonic = MonotonicBound(flow.largestSegment, comparison, bound, canGrow: canGrow)
        // The length of a segment that was cut short is known from its header; the length of a missing segment is
        // unknown.
        if flow.missing?.cause != .cutShort, let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        // The largest segment is not necessarily one of the segments that were kept.
        let largest = flow.segments.first { $0.length == flow.largestSegment }
        return monotonic.verdict(
            WireFailure(
                "the largest segment from \(name) has \(ByteText.count(flow.largestSegment, "byte")), "
                    + "expected \(comparison.phrase(bound))",
                details: largest.map {
                    [
                        "\(ByteText.count($0.length, "byte")) at offset \($0.offset), \(conversation.elapsed($0.time, names))"
                    ]
                }
                    ?? []))
    }

    /// Judges the times between consecutive data segments, excluding retransmissions.
    func judgeGap(_ index: Int?, _ comparison: Comparison, _ bound: Int64) -> WireVerdict {
        if flow.missing?.cause != .cutShort, let doubt { return .inconclusive(doubt) }
        let gaps = zip(flow.segments, flow.segments.dropFirst()).map {
            DurationText.difference(from: $0.time, to: $1.time)
        }
        let wanted = comparison.phrase(DurationText.text(nanoseconds: bound))
        if let index {
            guard index >= 1, index <= gaps.count else {
                return nothing(
                    "there is no gap \(index): \(name) sent \(ByteText.count(flow.segmentCount, "data segment"))",
                    details: gapList(gaps))
            }
            if comparison.holds(gaps[index - 1], bound) { return .passed }
            let text = DurationText.text(nanoseconds: gaps[index - 1])
            return .failed(
                WireFailure("gap \(index) of \(name) is \(text), expected \(wanted)", details: gapList(gaps)))
        }
        guard !gaps.isEmpty else {
            return nothing("there is no gap: \(name) sent \(ByteText.count(flow.segmentCount, "data segment"))")
        }
        let wrong = gaps.indices.filter { !comparison.holds(gaps[$0], bound) }
        guard let first = wrong.first else { return .passed }
        let others = wrong.count > 1 ? " (and \(wrong.count - 1) more)" : ""
        let text = DurationText.text(nanoseconds: gaps[first])
        return .failed(
            WireFailure("gap \(first + 1) of \(name) is \(text), expected \(wanted)\(others)", details: gapList(gaps)))
    }

    private func gapList(_ gaps: [Int64]) -> [String] {
        let lines = gaps.prefix(12).enumerated().map { "gap \($0 + 1): \(DurationText.text(nanoseconds: $1))" }
        return lines + (gaps.count > 12 ? ["… \(gaps.count) gaps in total"] : [])
    }
}

extension HalfConnectionJudge {
    // MARK: Records

    /// Judges the number of complete TLS records so far.
    func judgeRecords(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let records = TLSRecords(flow.stream.firstBytes.span, startsAtOnce: false)
        if case .noRecord(let offset, let flaw) = records.rest { return .failed(noRecord(at: offset, flaw, records)) }
        if records.count == 0 {
            // If there are no records, only `records 0` can pass; any other statement about records is vacuous.
            guard comparison == .equal, bound == 0 else {
                if let streamDoubt { return .inconclusive(streamDoubt) }
                return nothing("the capture contains no TLS record from \(name)", details: unfinished(records))
            }
            if let start = records.start {
                return .failed(WireFailure("\(name) started a TLS record at offset \(start), expected none"))
            }
        }
        let monotonic = MonotonicBound(records.count, comparison, bound, canGrow: canGrow)
        if monotonic.isUnsettled {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            if let streamPending { return streamPending }
        }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(records.count, "TLS record")), expected \(comparison.phrase(bound))",
                details: unfinished(records)))
    }

    /// Judges whether all bytes from the first TLS record on belong to records, and whether the last record is
    /// complete.
    func judgeTLS(fromStart: Bool) -> WireVerdict {
        if fromStart, let unknownStart { return .inconclusive(unknownStart) }
        let records = TLSRecords(flow.stream.firstBytes.span, startsAtOnce: fromStart)
        if case .noRecord(let offset, let flaw) = records.rest { return .failed(noRecord(at: offset, flaw, records)) }
        if let streamDoubt { return .inconclusive(streamDoubt) }
        if let streamPending { return streamPending }
        switch records.rest {
        case .unfinished(let offset, _, _):
            return nothing(
                "\(name) sent an incomplete TLS record at offset \(offset)", details: unfinished(records))
        case .nothing, .noRecord:
            return records.count == 0 ? nothing("the capture contains no TLS record from \(name)") : .passed
        }
    }

    private func noRecord(at offset: Int, _ flaw: TLSRecords.Flaw, _ records: TLSRecords) -> WireFailure {
        let stop = flow.stream.firstBytes.endIndex
        let there = flow.stream.firstBytes[min(offset, stop)..<min(offset + 32, stop)]
        return WireFailure(
            "\(name) sent an invalid TLS record at offset \(offset): \(flaw)",
            details: [
                "bytes there: \(Escaped.excerpt(there))",
                "complete TLS records before the invalid record: "
                    + "\(records.count)",
            ])
    }

    private func unfinished(_ records: TLSRecords) -> [String] {
        guard case .unfinished(let offset, let seen, let total) = records.rest else { return [] }
        let whole =
            total.map { "\(seen) of \(ByteText.count($0, "byte"))" } ?? "\(ByteText.count(seen, "byte")) of its header"
        return ["complete TLS records: \(records.count)", "incomplete at offset \(offset): \(whole)"]
    }

    // MARK: Absent bytes

    /// Judges whether the given bytes occur nowhere in the stream. The side must have sent at least one byte, and
    /// everything that it sent must be available.
    func judgeLacks(_ wanted: [UInt8]) -> WireVerdict {
        if let found = flow.stream.firstOffset(of: wanted) {
            let from = max(0, found - 24)
            let around = flow.stream.kept(from..<found + Int64(min(wanted.count, 64)) + 8)
            return .failed(
                WireFailure(
                    "\(name) sent \(Escaped.excerpt(wanted)) at offset \(found)",
                    details: around.map { ["context: \(Escaped.excerpt($0, limit: 96))"] } ?? []))
        }
        if let streamDoubt { return .inconclusive(streamDoubt) }
        if flow.stream.conflictCount > 0 {
            return .inconclusive("\(name) resent bytes with different values: it is unknown which values were received")
        }
        if let streamPending { return streamPending }
        if flow.stream.deliveredLength == 0 {
            return nothing(
                "the capture contains no data from \(name) to search",
                details: ["use `segments 0` to state that nothing was sent"] + conversation.closeDetails(names))
        }
        return .passed
    }

    // MARK: What is unknown

    private var unknownStart: String? {
        flow.initialSequence == nil
            ? "the capture does not contain the SYN from \(name): what \(name) sent before is unknown" : nil
    }

    /// The reason why the stream is not completely available for a judgment; `nil` if the stream is completely
    /// available.
    var streamDoubt: String? { lost ?? unkept ?? unknownStart }

    /// The `waiting` verdict for a stream whose missing bytes may still be retransmitted; `nil` if no bytes are
    /// missing.
    var streamPending: WireVerdict? {
        guard flow.missing != nil else { return nil }
        let summary = "bytes from \(name) are still missing"
        return canGrow ? .waiting(WireFailure(summary)) : .inconclusive(summary + ", and no more can arrive")
    }
}

extension StreamAssembler {
    /// Returns the offset of the first occurrence of `wanted`, which must not be empty, in the bytes that were captured
    /// and kept. An occurrence never extends across a gap.
    func firstOffset(of wanted: [UInt8]) -> Int64? {
        var start: Int64 = 0
        var index = 0
        for gap in gaps {
            // Only the first bytes of a long stream are kept, and a gap may follow the last kept byte.
            let length = min(max(0, Int(clamping: gap.offset - start)), bytes.count - index)
            if let found = bytes.span.firstIndex(of: wanted, in: index..<index + length) {
                return start + Int64(found - index)
            }
            index += length
            start = gap.end
        }
        if let found = bytes.span.firstIndex(of: wanted, in: index..<bytes.count) {
            return start + Int64(found - index)
        }
        for chunk in waiting {
            if let found = chunk.bytes.span.firstIndex(of: wanted, in: 0..<chunk.bytes.count) {
                return chunk.start + Int64(found)
            }
        }
        return nil
    }
}

extension Span where Element == UInt8 {
    /// Returns the index of the first occurrence of `wanted`, reading each byte of the span only once.
    fileprivate func firstIndex(of wanted: [UInt8], in range: Range<Int>) -> Int? {
        if wanted.isEmpty { return nil }
        var search = DelimiterSearch(wanted)
        return search.end(in: extracting(clamping(range))).map { range.lowerBound + $0 - wanted.count }
    }
}

extension HalfConnectionJudge {
    /// Judges the number of complete WebSocket frames so far.
    func judgeFrames(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        judge("WebSocket frame", comparison, bound, \.count)
    }

    /// Judges the number of complete WebSocket data messages so far.
    func judgeWebSocketMessages(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        judge("message (websocket)", comparison, bound, \.messageCount)
    }

    private func judge(
        _ noun: String, _ comparison: Comparison, _ bound: Int, _ number: KeyPath<WebSocketFrames, Int>
    ) -> WireVerdict {
        let bytes = flow.stream.firstBytes.span
        if bytes.count > 0, TLSRecords.plainText(in: bytes) == (0, true) {
            return .inconclusive("\(name) uses TLS, so its frames are encrypted; use `records` to count TLS records")
        }
        let frames = WebSocketFrames(bytes)
        let count = frames[keyPath: number]
        if case .tooLong(let offset, let length) = frames.rest {
            return .failed(
                WireFailure(
                    "\(name) sent an invalid WebSocket frame at offset \(offset): the highest bit of its length \(length) must be 0",
                    details: ["complete WebSocket frames before the invalid frame: \(frames.count)"]))
        }
        // If there are no frames, only `frames 0` can pass; any other statement about frames is vacuous.
        if count == 0, !(comparison == .equal && bound == 0) {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            return nothing("the capture contains no \(noun) from \(name)", details: rest(of: frames))
        }
        if count == 0, frames.count == 0, case .unfinished(let offset, _, _) = frames.rest {
            return .failed(WireFailure("\(name) started a WebSocket frame at offset \(offset), expected none"))
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if monotonic.isUnsettled {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            if let streamPending { return streamPending }
        }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, noun)), expected \(comparison.phrase(bound))",
                details: rest(of: frames)))
    }

    /// Returns details about the bytes after the last complete frame.
    private func rest(of frames: WebSocketFrames) -> [String] {
        switch frames.rest {
        case .nothing, .tooLong: []
        case .unfinishedHead(let seen):
            seen == 0 ? [] : ["its opening handshake is incomplete: \(ByteText.count(seen, "byte")) so far"]
        case .refused(let line): ["its response to the opening handshake is \(Escaped.excerpt(line)), not 101"]
        case .unfinished(let offset, let seen, let total):
            [
                "complete WebSocket frames: \(frames.count)",
                "incomplete at offset \(offset): "
                    + (total.map { "\(seen) of \(ByteText.count($0, "byte"))" }
                        ?? "\(ByteText.count(seen, "byte")) of its header"),
            ]
        }
    }
}
