import ProbeBase

// For each statement about one side, this file defines the function that judges it and the data that must be kept for
// it.

extension HalfConnectionJudge {
    func judge(_ statement: HalfConnectionStatement<Resolved>) -> WireVerdict {
        switch statement {
        case .bytes(let expected): judgeBytes(expected)
        case .segmentCount(let comparison, let bound): judgeSegmentCount(comparison, bound)
        case .segments(let expected): judgeSegments(expected)
        case .gap(let index, let comparison, let bound): judgeGap(index, comparison, bound.nanoseconds)
        case .largestSegment(let comparison, let bound): judgeLargestSegment(comparison, bound)
        case .longestLine(let comparison, let bound): judgeLongestLine(comparison, bound)
        case .lines(let framing): judgeLines(framing)
        case .messages(let comparison, let bound, let framing): judgeMessages(comparison, bound, framing)
        case .firstByte(let bound): judgeFirstByte(within: bound.nanoseconds)
        case .zeroWindow: judgeZeroWindow()
        case .window(let comparison, let bound): judgeWindow(comparison, bound)
        case .urgent:
            flow.urgentOffsets.isEmpty ? nothing("the capture contains no urgent data from \(name)") : .passed
        case .retransmissions(let comparison, let bound): judgeRetransmissions(comparison, bound)
        case .sacks(let comparison, let bound): SignalJudge(self).judge(.sacks, comparison, bound)
        case .duplicateAcks(let comparison, let bound): SignalJudge(self).judge(.duplicates, comparison, bound)
        case .keepAlives(let comparison, let bound): SignalJudge(self).judge(.keepAlives, comparison, bound)
        case .records(let comparison, let bound): judgeRecords(comparison, bound)
        case .frames(let comparison, let bound): judgeFrames(comparison, bound)
        case .tls(let fromStart): judgeTLS(fromStart: fromStart)
        case .lacks(let bytes): judgeLacks(bytes)
        }
    }
}

extension HalfConnectionStatement<Resolved> {
    /// Raises the limits so that the statement can be judged. The bytes of a stream are not kept unless a statement
    /// depends on their values.
    fileprivate func widen(_ limits: inout ConversationLimits) {
        switch self {
        case .firstByte, .retransmissions, .segmentCount, .largestSegment: limits.keepFirstSegments()
        case .bytes(let expected):
            // Some additional bytes are kept, to show how the stream continues after the first difference.
            limits.keptBytes = max(limits.keptBytes, expected.count + 4096)
        case .segments(let expected):
            limits.keptBytes = max(limits.keptBytes, expected.reduce(4096) { $0 + $1.count })
            limits.keptSegments = ConversationLimits.live.keptSegments
        case .gap: limits.keptSegments = ConversationLimits.live.keptSegments
        // CRLF, LF and CR line ends are counted as they arrive, so the bytes need not be kept.
        case .lines(.crlf), .lines(.lf), .lines(.cr): limits.quotes = true
        case .messages(_, _, .crlf), .messages(_, _, .lf): break
        case .lines, .messages, .frames, .records, .tls, .lacks:
            limits.keptBytes = ConversationLimits.live.keptBytes
        case .longestLine, .zeroWindow, .window, .urgent, .sacks, .duplicateAcks, .keepAlives: break
        }
    }
}

extension HalfConnectionStatement<Resolved> {
    /// Returns how missing packets can affect the verdict; `nil` if the verdict does not depend on missing packets.
    ///
    /// - Parameter isPeers: whether only packets of the other side are missing.
    func effect(isPeers: Bool) -> MissingEffect? {
        switch self {
        case .bytes, .segments, .gap, .records, .frames, .tls: isPeers ? nil : .decides
        case .messages(_, _, let framing):
            // If the beginning of a stream or the bytes of a gap are missing, only messages that end with a line end
            // can be recognized in the bytes that follow.
            isPeers ? nil : framing == .crlf || framing == .lf ? .grows : .decides
        case .segmentCount, .largestSegment, .longestLine, .window: isPeers ? nil : .grows
        case .sacks: isPeers ? nil : .grows
        // Whether a packet is counted depends on what the other side has acknowledged or sent.
        case .retransmissions, .duplicateAcks, .keepAlives: isPeers ? .decides : .grows
        case .firstByte: .decides
        case .zeroWindow, .urgent: isPeers ? nil : .confirms
        case .lacks, .lines: isPeers ? nil : .refutes
        }
    }

    /// The comparison operator, and a function that returns the same statement with another operator; `nil` if the
    /// statement does not compare a number with a bound.
    var bounded: (comparison: Comparison, replacing: (Comparison) -> Self)? {
        switch self {
        case .segmentCount(let comparison, let bound): (comparison, { .segmentCount($0, bound) })
        case .largestSegment(let comparison, let bound): (comparison, { .largestSegment($0, bound) })
        case .longestLine(let comparison, let bound): (comparison, { .longestLine($0, bound) })
        case .messages(let comparison, let bound, let framing): (comparison, { .messages($0, bound, framing) })
        case .window(let comparison, let bound): (comparison, { .window($0, bound) })
        case .retransmissions(let comparison, let bound): (comparison, { .retransmissions($0, bound) })
        case .sacks(let comparison, let bound): (comparison, { .sacks($0, bound) })
        case .duplicateAcks(let comparison, let bound): (comparison, { .duplicateAcks($0, bound) })
        case .keepAlives(let comparison, let bound): (comparison, { .keepAlives($0, bound) })
        case .records(let comparison, let bound): (comparison, { .records($0, bound) })
        case .frames(let comparison, let bound): (comparison, { .frames($0, bound) })
        case .bytes, .segments, .gap, .lines, .firstByte, .zeroWindow, .urgent, .tls, .lacks: nil
        }
    }
}

extension ConversationLimits {
    /// Returns limits that suffice to judge the statements.
    package static func judging(_ assertions: [WireAssertion]) -> ConversationLimits {
        var limits = ConversationLimits.counting
        // The failure of `wire no retransmission` lists the first retransmissions.
        if assertions.contains(.noRetransmission) { limits.keepFirstSegments() }
        for case .halfConnection(let statement, _) in assertions { statement.widen(&limits) }
        if limits.keptBytes > 0 { limits.totalBytes = ConversationLimits.live.totalBytes }
        return limits
    }

    fileprivate mutating func keepFirstSegments() {
        keptEvents = 64
        keptSegments = max(keptSegments, 64)
    }
}

/// Judges the numbers of SACKs, duplicate acknowledgments and keep-alives. These numbers can grow until the connection
/// is closed, even after this side's FIN.
private struct SignalJudge {
    enum Signal { case sacks, duplicates, keepAlives }

    private let side: HalfConnectionJudge

    init(_ side: HalfConnectionJudge) { self.side = side }

    func judge(_ signal: Signal, _ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let signals = side.flow.signals
        let count =
            switch signal {
            case .sacks: signals.sacks
            case .duplicates: signals.duplicates
            case .keepAlives: signals.keepAlives
            }
        let noun =
            switch signal {
            case .sacks:
                count == 1 ? "1 acknowledgment with SACK blocks" : "\(count) acknowledgments with SACK blocks"
            case .duplicates: ByteText.count(count, "duplicate acknowledgment")
            case .keepAlives: ByteText.count(count, "keep-alive probe")
            }
        let unsure = side.flow.unsureCopyCount
        if unsure > 0, comparison.holds(count, bound) != comparison.holds(count + unsure, bound) {
            return .inconclusive(
                "\(side.name) sent \(noun); \(unsure) more without an IP identification may have been sent twice "
                    + "or only captured twice")
        }
        return MonotonicBound(count, comparison, bound, canGrow: !side.conversation.isClosed).verdict(
            WireFailure("\(side.name) sent \(noun), expected \(comparison.phrase(bound))"))
    }
}
