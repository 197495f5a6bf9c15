import ProbeBase

extension HalfConnectionJudge {
    // MARK: Records

    /// Whole records so far.
    func judgeRecords(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let records = TLSRecords(flow.stream.firstBytes.span, startsAtOnce: false)
        if case .noRecord(let offset, let flaw) = records.rest { return .failed(noRecord(at: offset, flaw, records)) }
        if records.count == 0 {
            // `records 0` says that there is no TLS; every other statement about no record is about nothing.
            guard comparison == .equal, bound == 0 else {
                if let streamDoubt { return .inconclusive(streamDoubt) }
                return nothing("no TLS record from \(name)", details: unfinished(records))
            }
            if let start = records.start {
                return .failed(WireFailure("\(name) has begun a TLS record at offset \(start), 0 expected"))
            }
        }
        let monotonic = MonotonicBound(records.count, comparison, bound, canGrow: canGrow)
        if monotonic.isUnsettled {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            if let streamPending { return streamPending }
        }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(records.count, "TLS record")), \(comparison.rawValue) \(bound) expected",
                details: unfinished(records)))
    }

    /// All bytes from the first record on are records, and the last one is whole.
    func judgeTLS(fromStart: Bool) -> WireVerdict {
        if fromStart, let unknownStart { return .inconclusive(unknownStart) }
        let records = TLSRecords(flow.stream.firstBytes.span, startsAtOnce: fromStart)
        if case .noRecord(let offset, let flaw) = records.rest { return .failed(noRecord(at: offset, flaw, records)) }
        if let streamDoubt { return .inconclusive(streamDoubt) }
        if let streamPending { return streamPending }
        switch records.rest {
        case .unfinished(let offset, _, _):
            return nothing(
                "the TLS record of \(name) at offset \(offset) is unfinished", details: unfinished(records))
        case .nothing, .noRecord:
            return records.count == 0 ? nothing("no TLS record from \(name)") : .passed
        }
    }

    private func noRecord(at offset: Int, _ flaw: TLSRecords.Flaw, _ records: TLSRecords) -> WireFailure {
        let stop = flow.stream.firstBytes.endIndex
        let there = flow.stream.firstBytes[min(offset, stop)..<min(offset + 32, stop)]
        return WireFailure(
            "\(name) sent no TLS record at offset \(offset): \(flaw)",
            details: ["there: \(Escaped.excerpt(there))", "TLS records before it: \(records.count)"])
    }

    private func unfinished(_ records: TLSRecords) -> [String] {
        guard case .unfinished(let offset, let seen, let total) = records.rest else { return [] }
        let whole =
            total.map { "\(seen) of \(ByteText.count($0, "byte"))" } ?? "\(ByteText.count(seen, "byte")) of its header"
        return ["whole TLS records: \(records.count)", "unfinished at offset \(offset): \(whole)"]
    }

    // MARK: What is not there

    /// The bytes are nowhere in the stream. What was searched must be all that was sent, and must be something.
    func judgeLacks(_ wanted: [UInt8]) -> WireVerdict {
        if let found = flow.stream.firstOffset(of: wanted) {
            let from = max(0, found - 24)
            let around = flow.stream.kept(from..<found + Int64(min(wanted.count, 64)) + 8)
            return .failed(
                WireFailure(
                    "\(name) sent \(Escaped.excerpt(wanted)) at offset \(found)",
                    details: around.map { ["there: \(Escaped.excerpt($0, limit: 96))"] } ?? []))
        }
        if let streamDoubt { return .inconclusive(streamDoubt) }
        if flow.stream.conflictCount > 0 {
            return .inconclusive("\(name) sent bytes again with other values: which ones were received is not known")
        }
        if let streamPending { return streamPending }
        if flow.stream.deliveredLength == 0 {
            return nothing(
                "not a byte from \(name): what it lacks can't be told",
                details: ["`segments 0` says that nothing was sent"] + conversation.closeDetails(names))
        }
        return .passed
    }

    // MARK: What can't be known

    private var unknownStart: String? {
        flow.initialSequence == nil
            ? "the capture does not hold the SYN of \(name): what it sent before is not known" : nil
    }

    /// Not all that was sent is there to be judged.
    var streamDoubt: String? { lost ?? unkept ?? unknownStart }

    /// Bytes that may still be sent again are missing.
    var streamPending: WireVerdict? {
        guard flow.missing != nil else { return nil }
        let summary = "bytes of \(name) are still missing"
        return canGrow ? .waiting(WireFailure(summary)) : .inconclusive(summary + ", and no more can come")
    }
}

extension StreamAssembler {
    /// Where these bytes, at least one, begin for the first time in what was captured and kept; what stands on both sides of a gap is not
    /// joined.
    func firstOffset(of wanted: [UInt8]) -> Int64? {
        var start: Int64 = 0
        var index = 0
        for gap in gaps {
            let length = Int(clamping: gap.offset - start)
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
    /// Reads each byte once.
    fileprivate func firstIndex(of wanted: [UInt8], in range: Range<Int>) -> Int? {
        guard let first = wanted.first else { return nil }
        let part = extracting(clamping(range))
        var search = DelimiterSearch(wanted)
        var index = 0
        while index < part.count {
            if search.matched == 0 {
                guard let next = part.firstIndex(of: first, from: index) else { return nil }
                index = next
            }
            if search.read(part[index]) { return range.lowerBound + index + 1 - wanted.count }
            index += 1
        }
        return nil
    }
}
