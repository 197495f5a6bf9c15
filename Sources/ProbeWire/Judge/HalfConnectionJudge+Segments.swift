import ProbeBase

extension HalfConnectionJudge {
    private var tooMany: String? {
        flow.segments.count < flow.segmentCount
            ? "only the first \(flow.segments.count) segments of \(name) are kept" : nil
    }

    /// Contradicts nothing that was seen, but something is missing.
    private var doubt: String? { lost ?? tooMany }

    func judgeSegmentCount(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let count = flow.segmentCount
        // `segments 0` says that there is nothing; every other statement about no segment is about nothing.
        if count == 0, !(comparison == .equal && bound == 0) {
            if let lost { return .inconclusive(lost) }
            return nothing("no data segment from \(name)")
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, "data segment")), \(comparison.rawValue) \(bound) expected",
                details: list(flow.segments, title: "segment")))
    }

    /// In the order of the stream; what was captured late stands where it belongs.
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
                        "\(name) sent \(ByteText.count(actual.count, "data segment")), \(expected.count) expected"))
            }
            let bytes = flow.stream.kept(segment.offset..<segment.end) ?? []
            if segment.isCut {
                let isPossible = segment.length == expected[index].count && expected[index].starts(with: bytes)
                if isPossible { return .inconclusive("segment \(index + 1) of \(name) was cut short by the capture") }
            } else if bytes.count < segment.length {
                return .inconclusive(unkept ?? lost ?? "segment \(index + 1) of \(name) is not kept")
            }
            if !bytes.elementsEqual(expected[index]) { return .failed(failure(difference(index, bytes, expected))) }
        }
        if let doubt { return .inconclusive(doubt) }
        if actual.isEmpty { return nothing("no data segment from \(name)") }
        if actual.count < expected.count {
            let summary = "\(actual.count) of \(expected.count) data segments from \(name) so far"
            return canGrow ? .waiting(failure(summary)) : .failed(failure(summary + ", and no more can come"))
        }
        return flow.missing == nil ? .passed : .waiting(failure("bytes of \(name) are still missing"))
    }

    private func difference(_ index: Int, _ bytes: ArraySlice<UInt8>, _ expected: [[UInt8]]) -> String {
        let wanted = Array(expected.joined())
        let seen = flow.stream.firstBytes
        let isCutOtherwise = wanted.starts(with: seen)
        if isCutOtherwise { return "the bytes of \(name) are right, but they left in other segments" }
        return "data segment \(index + 1) of \(name) has other bytes"
    }

    private func comparisonDetails(_ expected: [[UInt8]], _ actual: [DataSegment]) -> [String] {
        let wanted = expected.prefix(12).enumerated().map { "expected \($0 + 1): \(Escaped.excerpt($1, limit: 48))" }
        let more = expected.count > 12 ? ["expected … \(expected.count) in all"] : []
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
        return lines + (segments.count > 12 ? ["\(title) … \(segments.count) in all"] : [])
    }

    // MARK: Sizes and times

    func judgeLargestSegment(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        guard flow.segmentCount > 0 else {
            if let lost { return .inconclusive(lost) }
            return nothing("no data segment from \(name)")
        }
        let monotonic = MonotonicBound(flow.largestSegment, comparison, bound, canGrow: canGrow)
        // A segment that was cut short has its length in its header; one that is missing has none.
        if flow.missing?.cause != .cutShort, let lost, monotonic.isUnsettled { return .inconclusive(lost) }
        // It may not be among those that are kept.
        let largest = flow.segments.first { $0.length == flow.largestSegment }
        return monotonic.verdict(
            WireFailure(
                "the largest segment of \(name) has \(ByteText.count(flow.largestSegment, "byte")), "
                    + "\(comparison.rawValue) \(bound) expected",
                details: largest.map {
                    [
                        "\(ByteText.count($0.length, "byte")) at offset \($0.offset), \(conversation.elapsed($0.time, names))"
                    ]
                }
                    ?? []))
    }

    /// Between data segments that follow one another on the wire, retransmissions left out.
    func judgeGap(_ index: Int?, _ comparison: Comparison, _ bound: Int64) -> WireVerdict {
        if flow.missing?.cause != .cutShort, let doubt { return .inconclusive(doubt) }
        let gaps = zip(flow.segments, flow.segments.dropFirst()).map {
            DurationText.difference(from: $0.time, to: $1.time)
        }
        let wanted = "\(comparison.rawValue) \(DurationText.text(nanoseconds: bound))"
        if let index {
            guard index >= 1, index <= gaps.count else {
                return nothing(
                    "there is no gap \(index): \(ByteText.count(flow.segmentCount, "data segment")) from \(name)",
                    details: gapList(gaps))
            }
            if comparison.holds(gaps[index - 1], bound) { return .passed }
            let text = DurationText.text(nanoseconds: gaps[index - 1])
            return .failed(
                WireFailure("gap \(index) of \(name) is \(text), \(wanted) expected", details: gapList(gaps)))
        }
        guard !gaps.isEmpty else {
            return nothing("no gap: \(ByteText.count(flow.segmentCount, "data segment")) from \(name)")
        }
        let wrong = gaps.indices.filter { !comparison.holds(gaps[$0], bound) }
        guard let first = wrong.first else { return .passed }
        let others = wrong.count > 1 ? ", and \(wrong.count - 1) more" : ""
        let text = DurationText.text(nanoseconds: gaps[first])
        return .failed(
            WireFailure("gap \(first + 1) of \(name) is \(text), \(wanted) expected\(others)", details: gapList(gaps)))
    }

    private func gapList(_ gaps: [Int64]) -> [String] {
        let lines = gaps.prefix(12).enumerated().map { "gap \($0 + 1): \(DurationText.text(nanoseconds: $1))" }
        return lines + (gaps.count > 12 ? ["… \(gaps.count) gaps in all"] : [])
    }
}
