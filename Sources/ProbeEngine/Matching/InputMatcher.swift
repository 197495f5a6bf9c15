import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Compares the bytes received on a connection with an expectation. Has no side effects: it consumes nothing.
struct InputMatcher {
    enum Result {
        /// The first `take` bytes must be consumed. The last of the matched bytes was read at the time `completed`.
        case matched(take: Int, completed: MonotonicTime?, bindings: [(String, Value)])
        /// The given ranges must be consumed; the bytes between them stay unread.
        case taken([Range<Int>], completed: MonotonicTime?, bindings: [(String, Value)])
        case mismatch(Mismatch)
        /// The expected input may still arrive.
        case pending
    }

    struct Mismatch {
        /// The grammatical subject of the summary of a mismatch.
        enum Subject {
            /// The actor, as in `S received …`.
            case actor
            /// The connection, which has ended, as in `S's connection was reset (RST) …`.
            ///
            /// - Parameter unread: the number of bytes received before the end.
            case connection(unread: Int)
        }

        var subject = Subject.actor
        /// A description of the mismatch, without the grammatical subject.
        var summary: String
        var expected: [UInt8]?
        var actual: [UInt8]?
        var hints: [String] = []
        /// Whether more bytes would make the finding clearer, because the line or message that differs is incomplete.
        var isPartial = false
        /// Whether the received input exceeds a limit of the harness. Exceeding a limit is an error rather than a
        /// failure of the peer.
        var isLimit = false

        /// A short description of the mismatch, which an `either` uses as the reason why a branch was not taken.
        var reason: String {
            switch subject {
            case .actor: summary
            case .connection: "the connection \(summary)"
            }
        }

        /// Returns the mismatch for input that exceeds a limit of the harness.
        ///
        /// - Parameter limit: a predicate that describes the received input and the limit that it exceeds.
        static func beyond(_ limit: String, actual: [UInt8]) -> Mismatch {
            Mismatch(
                summary: limit, actual: actual,
                hints: [limitHint], isLimit: true)
        }

        static let limitHint = "see the section Limits in `docs/language/verdicts.md`"
    }

    /// The maximum number of received bytes that a finding holds.
    static let shownLimit = 4096

    var buffer: ReceiveBuffer
    var end: Connection.ReadEnd?
    var framing: Framing
    /// Whether the peer is a client, which masks its WebSocket frames.
    var peerIsClient = false

    /// Compares the received bytes with the expected input.
    ///
    /// - Parameter progress: the progress of this step, which lets each evaluation continue where the previous one
    ///   ended.
    func match(_ expected: ConnectionExpectation<Resolved>, _ progress: inout InputProgress) -> Result {
        progress.begin(buffer, framing)
        let outcome = evaluate(expected, &progress)
        guard case .pending = outcome, let end, !progress.isBusy else { return outcome }
        return .mismatch(ended(end, before: expected))
    }

    private func evaluate(_ expected: ConnectionExpectation<Resolved>, _ progress: inout InputProgress) -> Result {
        switch expected {
        case .bytes(let bytes): return exact(bytes, &progress)
        case .line(let text, let name) where framing == .websocket,
            .message(let text, let name) where framing == .websocket:
            // Only a text message is accepted, unless the step accepts any message.
            let kind: WebSocketMessageKind? = if case .any = text { nil } else { .text }
            return webSocket.message(text, name, kind, &progress)
        case .messageOfKind(let kind, let text, let name): return webSocket.message(text, name, kind, &progress)
        case .frame(let frame): return webSocket.whole(frame)
        case .ping(let payload): return webSocket.control(WebSocketFrame.Opcode.ping, payload, &progress)
        case .pong(let payload): return webSocket.control(WebSocketFrame.Opcode.pong, payload, &progress)
        case .closeFrame(let code, let reason):
            return webSocket.control(WebSocketFrame.Opcode.close, code: code, reason, &progress)
        case .line(let text, let name): return unit(text, name, expected, &progress)
        case .message(let text, let name): return unit(text, name, expected, &progress)
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
        // `ConnectionEvaluation` evaluates the expectations whose results don't depend on the received bytes.
        case .urgent, .nothing, .stalled, .sent, .sendFailed: return .pending
        }
    }

    private var webSocket: WebSocketMatcher { WebSocketMatcher(buffer: buffer, peerIsClient: peerIsClient) }

    // MARK: Bytes

    private func exact(_ bytes: [UInt8], _ progress: inout InputProgress) -> Result {
        if buffer.firstDifference(from: bytes, startingAt: progress.compared) != nil {
            let actual = shown(atLeast: bytes.count)
            return .mismatch(
                Mismatch(
                    summary: "received \(ReceivedText.bytes(actual, expected: bytes))", expected: bytes, actual: actual,
                    hints: NearMiss.bytes(expected: bytes, actual: actual), isPartial: buffer.count < bytes.count))
        }
        progress.compared = min(buffer.count, bytes.count)
        return buffer.count >= bytes.count ? taking(bytes.count) : .pending
    }

    /// Returns the first line or message that has not been examined yet.
    func nextUnit(_ progress: inout InputProgress) -> FrameScanner.Scan {
        let outcome = FrameScanner.next(framing, in: buffer, from: progress.lines, searched: progress.searched)
        if case .incomplete = outcome { progress.searched = buffer.count }
        return outcome
    }

    private func integer(_ format: IntegerFormat, _ name: Name?) -> Result {
        switch format.read(buffer.unread) {
        case .value(let value, let width): taking(width, bind(name, Value(value)))
        case .incomplete: .pending
        case .tooLong:
            .mismatch(Mismatch(summary: "received a varint of more than 64 bits", actual: shown(atLeast: 10)))
        }
    }

    // MARK: Lines and messages

    private func unit(
        _ text: ExpectedText, _ name: Name?, _ expected: ConnectionExpectation<Resolved>,
        _ progress: inout InputProgress
    ) -> Result {
        switch nextUnit(&progress) {
        case .invalid(let what):
            return .mismatch(
                Mismatch(summary: "received \(what), expected \(expected.description)", actual: shown()))
        case .tooLong(let what): return .mismatch(.beyond(what, actual: shown()))
        case .incomplete:
            return prematurely(text, expected, &progress)
        case .unit(let unit):
            let content = buffer.bytes(unit.content)
            guard let groups = text.match(content) else {
                return .mismatch(
                    Mismatch(
                        summary: "received \(ReceivedText.value(content, expected: expected.description))",
                        expected: text.value, actual: content,
                        hints: NearMiss.line(expected: text, actual: content, framing: framing)))
            }
            return taking(unit.end, groups + bind(name, .bytes(content)))
        }
    }

    /// Evaluates an incomplete line, which may already differ from the expected one.
    private func prematurely(
        _ text: ExpectedText, _ expected: ConnectionExpectation<Resolved>, _ progress: inout InputProgress
    ) -> Result {
        guard let terminator = framing.terminator, let value = text.value, !buffer.isEmpty else {
            return .pending
        }
        let whole = value + terminator
        if buffer.firstDifference(from: whole, startingAt: min(progress.compared, whole.count)) != nil {
            let actual = shown(atLeast: whole.count)
            return .mismatch(
                Mismatch(
                    summary: "received \(ReceivedText.value(actual, expected: expected.description))",
                    expected: whole, actual: actual,
                    hints: NearMiss.unterminated(expected: value, actual: actual, framing: framing), isPartial: true))
        }
        progress.compared = min(buffer.count, whole.count)
        return .pending
    }

    private func untilLine(_ text: ExpectedText, _ name: Name?, _ progress: inout InputProgress) -> Result {
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

    /// Assigns each line its own pattern, in any order. When more lines arrive, earlier lines may be assigned to other
    /// patterns.
    private func anyOrder(
        _ texts: [(isOptional: Bool, pattern: ExpectedText)], _ progress: inout InputProgress
    ) -> Result {
        // The matching is moved out of `progress` while it changes, because a second owner would force a copy.
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
                        summary: "received a line that is not one of those still expected", actual: content,
                        hints: ["still expected: " + stillExpected(matching.open)]))
            }
            (progress.lines, progress.searched, progress.needed) = (unit.end, unit.end, unit.end)
        }
        // Optional lines that have already arrived are also consumed.
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

    private func ending(_ expected: ConnectionExpectation<Resolved>) -> Result {
        if !buffer.isEmpty {
            return .mismatch(
                Mismatch(
                    summary: "received data, expected \(expected.description)", expected: [], actual: shown(),
                    isPartial: true))
        }
        switch (expected, end) {
        case (_, .none): return .pending
        case (.eof, .eof(let time)), (.reset, .reset(let time)), (.closed, .eof(let time)), (.closed, .reset(let time)):
            return .matched(take: 0, completed: time, bindings: [])
        case (_, .some(let end)): return .mismatch(ended(end, before: expected))
        }
    }

    /// Returns a predicate that states how a connection ended.
    static func describe(_ end: Connection.ReadEnd) -> String {
        switch end {
        case .eof: "was closed by the peer (FIN)"
        case .reset: "was reset (RST)"
        case .failed(let error, _): "failed (\(error.reason))"
        }
    }

    private func ended(_ end: Connection.ReadEnd, before expected: ConnectionExpectation<Resolved>) -> Mismatch {
        var mismatch = Mismatch(subject: .connection(unread: buffer.count), summary: Self.describe(end))
        if !buffer.isEmpty {
            mismatch.actual = shown(atLeast: Self.shownLength(of: expected))
        } else if case .bytes = expected {
            mismatch.actual = []
        }
        switch expected {
        case .bytes(let bytes): mismatch.expected = bytes
        case .line(let text, _), .message(let text, _):
            mismatch.expected = text.value
            if let terminator = framing.terminator {
                mismatch.hints = NearMiss.atEnd(
                    expected: text, actual: shown(atLeast: Self.shownLength(of: expected)), terminator: terminator,
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

    private func bind(_ name: Name?, _ value: Value) -> [(String, Value)] {
        name.map { [($0.value, value)] } ?? []
    }

    private func shown(atLeast count: Int = 0) -> [UInt8] {
        buffer.bytes(0..<min(buffer.count, max(count, InputMatcher.shownLimit)))
    }

    /// Returns the minimum number of received bytes to show beside the expected bytes. Showing fewer would suggest that
    /// the other bytes did not arrive.
    static func shownLength(of expected: ConnectionExpectation<Resolved>) -> Int {
        switch expected {
        case .bytes(let bytes): bytes.count
        // The 2 additional bytes are for a terminator, such as CRLF.
        case .line(let text, _), .message(let text, _), .untilLine(let text, _): (text.value?.count ?? 0) + 2
        default: 0
        }
    }
}
