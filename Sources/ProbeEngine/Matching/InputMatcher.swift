import ProbeBase
import ProbeScenario
import ProbeSystem

/// Compares what has come on a connection with what is expected. Pure: it looks, and takes nothing.
struct InputMatcher {
    enum Result {
        /// Take so many bytes; the last one needed was read at `completed`.
        case matched(take: Int, completed: MonotonicTime?, bindings: [(String, Value)])
        /// Take these parts: what stands between them stays.
        case taken([Range<Int>], completed: MonotonicTime?, bindings: [(String, Value)])
        case mismatch(Mismatch)
        /// It may still come.
        case pending
    }

    struct Mismatch {
        var summary: String
        var expected: [UInt8]?
        var actual: [UInt8]?
        var hints: [String] = []
        /// More bytes would make the report clearer: the unit that differs has not come whole.
        var isPartial = false
        /// The harness can't read what came: that is an error, and says nothing about the peer.
        var isLimit = false

        /// - Parameter limit: what came that is more than the harness can read, as a clause.
        static func beyond(_ limit: String, actual: [UInt8]) -> Mismatch {
            Mismatch(
                summary: limit, actual: actual,
                hints: [limitHint], isLimit: true)
        }

        static let limitHint = "see the limits of the harness in `docs/language/verdicts.md`, under Limits"
    }

    /// Actual bytes that a report holds at most.
    static let shownLimit = 4096

    var buffer: ReceiveBuffer
    var end: Connection.ReadEnd?
    var framing: Framing
    /// The peer is a client: of WebSocket it masks.
    var isOfClient = false

    /// - Parameter progress: of this wait so far; it makes each look begin where the last one ended.
    func match(_ expected: ExpectedInput, _ progress: inout InputProgress) -> Result {
        progress.begin(buffer, framing)
        let outcome = evaluate(expected, &progress)
        guard case .pending = outcome, let end, !progress.isBusy else { return outcome }
        return .mismatch(ended(end, before: expected))
    }

    private func evaluate(_ expected: ExpectedInput, _ progress: inout InputProgress) -> Result {
        switch expected {
        case .bytes(let bytes): return exact(bytes, &progress)
        case .webSocket(let wanted, _):
            return WebSocketMatcher(buffer: buffer, isOfClient: isOfClient).match(wanted, &progress)
        case .line(let text, let name) where framing == .websocket,
            .message(let text, let name) where framing == .websocket:
            // What is compared is text, unless it says otherwise.
            let kind: WebSocketMessageKind? = if case .any = text { nil } else { .text }
            return WebSocketMatcher(buffer: buffer, isOfClient: isOfClient).match(
                .message(text, name: name, kind: kind), &progress)
        case .line(let text, let name): return unit(text, name, noun: "line", expected, &progress)
        case .message(let text, let name): return unit(text, name, noun: "message", expected, &progress)
        case .linesInAnyOrder(let texts): return anyOrder(texts, &progress)
        case .untilLine(let text, let name): return untilLine(text, name, &progress)
        case .count(let count, let name):
            return buffer.count >= count ? taking(count, bind(name, .bytes(buffer.bytes(0..<count)))) : .pending
        case .until(let delimiter, let name):
            let start = max(0, progress.searched - (delimiter.count - 1))
            guard let index = buffer.firstIndex(of: delimiter, from: start) else {
                progress.searched = buffer.count
                return .pending
            }
            return taking(index + delimiter.count, bind(name, .bytes(buffer.bytes(0..<index))))
        case .anyBytes(let name):
            if buffer.isEmpty { return .pending }
            return .matched(
                take: buffer.count, completed: buffer.arrival(of: 0),
                bindings: bind(name, .bytes(buffer.bytes(0..<buffer.count))))
        case .integer(let format, let name): return integer(format, name)
        case .eof, .reset, .closed, .notify, .truncated, .alert: return ending(expected)
        }
    }

    // MARK: Bytes

    private func exact(_ bytes: [UInt8], _ progress: inout InputProgress) -> Result {
        if let index = buffer.firstDifference(from: bytes, startingAt: progress.compared) {
            return .mismatch(
                Mismatch(
                    summary: "other bytes came than expected: the first difference is at byte \(index + 1)",
                    expected: bytes, actual: shown(atLeast: bytes.count),
                    hints: NearMiss.bytes(expected: bytes, actual: shown(atLeast: bytes.count)),
                    isPartial: buffer.count < bytes.count))
        }
        progress.compared = min(buffer.count, bytes.count)
        return buffer.count >= bytes.count ? taking(bytes.count) : .pending
    }

    /// The next line or message behind those that were looked at.
    func nextUnit(_ progress: inout InputProgress) -> FrameScanner.Scan {
        let outcome = FrameScanner.next(framing, in: buffer, from: progress.lines, searched: progress.searched)
        if case .incomplete = outcome { progress.searched = buffer.count }
        return outcome
    }

    private func integer(_ format: IntegerFormat, _ name: String?) -> Result {
        switch format.read(buffer.unread) {
        case .value(let value, let width): taking(width, bind(name, Value(value)))
        case .incomplete: .pending
        case .tooLong: .mismatch(Mismatch(summary: "a varint of more than 64 bits", actual: shown(atLeast: 10)))
        }
    }

    // MARK: Lines and messages

    private func unit(
        _ text: ExpectedText, _ name: String?, noun: String, _ expected: ExpectedInput, _ progress: inout InputProgress
    ) -> Result {
        switch nextUnit(&progress) {
        case .invalid(let what):
            return .mismatch(
                Mismatch(summary: "\(what) came where \(expected.description) was expected", actual: shown()))
        case .tooLong(let what): return .mismatch(.beyond(what, actual: shown()))
        case .incomplete:
            return prematurely(text, noun: noun, expected, &progress)
        case .unit(let unit):
            let content = buffer.bytes(unit.content)
            guard let groups = text.match(content) else {
                return .mismatch(
                    Mismatch(
                        summary: "another \(noun) came than \(expected.description)",
                        expected: text.value, actual: content,
                        hints: NearMiss.line(expected: text, actual: content, framing: framing)))
            }
            return taking(unit.end, groups + bind(name, .bytes(content)))
        }
    }

    /// A line that has not ended yet and can no longer be the expected one.
    private func prematurely(
        _ text: ExpectedText, noun: String, _ expected: ExpectedInput, _ progress: inout InputProgress
    ) -> Result {
        guard let terminator = framing.terminator, let value = text.value, !buffer.isEmpty else {
            return .pending
        }
        let whole = value + terminator
        if buffer.firstDifference(from: whole, startingAt: min(progress.compared, whole.count)) != nil {
            let actual = shown(atLeast: whole.count)
            return .mismatch(
                Mismatch(
                    summary: "another \(noun) came than \(expected.description)", expected: whole, actual: actual,
                    hints: NearMiss.unterminated(expected: value, actual: actual, framing: framing), isPartial: true))
        }
        progress.compared = min(buffer.count, whole.count)
        return .pending
    }

    private func untilLine(_ text: ExpectedText, _ name: String?, _ progress: inout InputProgress) -> Result {
        while true {
            let scan = nextUnit(&progress)
            if case .tooLong(let what) = scan { return .mismatch(.beyond(what, actual: shown())) }
            guard case .unit(let unit) = scan else { return .pending }
            guard progress.spend(unit.content.count + 64) else { return .pending }
            if let groups = text.match(buffer.bytes(unit.content)) {
                return taking(unit.end, groups + bind(name, .bytes(buffer.bytes(0..<unit.end))))
            }
            (progress.lines, progress.searched) = (unit.end, unit.end)
        }
    }

    /// Each line gets a pattern of its own. Which one may change as more lines come, so that the order of the patterns decides
    /// nothing.
    private func anyOrder(
        _ texts: [(isOptional: Bool, text: ExpectedText)], _ progress: inout InputProgress
    ) -> Result {
        // Taken out while it changes: two owners would each need a copy.
        var matching = progress.matching ?? LineMatching(texts)
        progress.matching = nil
        defer { progress.matching = matching }
        while !matching.isComplete {
            let scan = nextUnit(&progress)
            if case .tooLong(let what) = scan { return .mismatch(.beyond(what, actual: shown())) }
            guard case .unit(let unit) = scan else { return .pending }
            guard progress.spend((unit.content.count + 64) * matching.comparisons) else { return .pending }
            let content = buffer.bytes(unit.content)
            guard matching.add(content) else {
                return .mismatch(
                    Mismatch(
                        summary: "a line came that is none of those still expected", actual: content,
                        hints: ["still expected: " + stillExpected(matching.open)]))
            }
            (progress.lines, progress.searched, progress.needed) = (unit.end, unit.end, unit.end)
        }
        // Optional lines that are there already belong to it too.
        while case .unit(let unit) = nextUnit(&progress) {
            guard progress.spend((unit.content.count + 64) * matching.comparisons) else { return .pending }
            guard matching.add(buffer.bytes(unit.content)) else { break }
            (progress.lines, progress.searched) = (unit.end, unit.end)
        }
        let needed = progress.needed
        return .matched(
            take: progress.lines, completed: needed > 0 ? buffer.arrival(of: needed - 1) : nil,
            bindings: matching.bindings)
    }

    private func stillExpected(_ texts: [ExpectedText]) -> String {
        let shown = texts.prefix(20).map { $0.described(as: "line") }.joined(separator: ", ")
        return texts.count > 20 ? shown + " and \(texts.count - 20) more" : shown
    }

    // MARK: Ends

    private func ending(_ expected: ExpectedInput) -> Result {
        if !buffer.isEmpty {
            return .mismatch(
                Mismatch(
                    summary: "bytes came where \(expected.description) was expected", expected: [], actual: shown(),
                    isPartial: true))
        }
        switch (expected, end) {
        case (_, .none): return .pending
        case (.eof, .eof(let time)), (.reset, .reset(let time)), (.closed, .eof(let time)), (.closed, .reset(let time)):
            return .matched(take: 0, completed: time, bindings: [])
        case (_, .some(let end)): return .mismatch(ended(end, before: expected))
        }
    }

    private func ended(_ end: Connection.ReadEnd, before expected: ExpectedInput) -> Mismatch {
        let what =
            switch end {
            case .eof: "the peer closed (FIN)"
            case .reset: "the connection was reset (RST)"
            case .failed(let error, _): "the connection failed (\(error.reason))"
            }
        var mismatch = Mismatch(summary: "\(what) where \(expected.description) was expected")
        if !buffer.isEmpty {
            mismatch.actual = shown(atLeast: expected.shownLength)
            mismatch.summary += ", after \(ByteText.count(buffer.count, "byte")) of one that is not whole"
        } else if case .bytes = expected {
            mismatch.actual = []
        }
        switch expected {
        case .bytes(let bytes): mismatch.expected = bytes
        case .line(let text, _), .message(let text, _):
            mismatch.expected = text.value
            if let terminator = framing.terminator {
                mismatch.hints = NearMiss.atEnd(
                    expected: text, actual: shown(atLeast: expected.shownLength), terminator: terminator,
                    framing: framing)
            }
        case .eof:
            if case .reset = end { mismatch.hints.append(NearMiss.resetInsteadOfFin) }
        default: break
        }
        return mismatch
    }

    // MARK: Results

    private func taking(_ count: Int, _ bindings: [(String, Value)] = []) -> Result {
        .matched(take: count, completed: count > 0 ? buffer.arrival(of: count - 1) : nil, bindings: bindings)
    }

    private func bind(_ name: String?, _ value: Value) -> [(String, Value)] {
        name.map { [($0, value)] } ?? []
    }

    private func shown(atLeast count: Int = 0) -> [UInt8] {
        buffer.bytes(0..<min(buffer.count, max(count, InputMatcher.shownLimit)))
    }
}
