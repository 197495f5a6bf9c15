import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Compares received WebSocket frames (RFC 6455) with an expectation. Has no side effects: it consumes nothing.
///
/// Data messages are assembled from their fragments. Control frames before a message or between its fragments stay
/// unread, for the steps that expect them.
///
/// A frame that RFC 6455 forbids satisfies only an expectation of exactly that frame.
struct WebSocketMatcher {
    /// How far a step has examined the received frames: the fragments of the current message, and the offset after the
    /// last examined frame.
    struct Progress {
        fileprivate var fragments: [Placed] = []
        fileprivate(set) var offset = 0
    }

    let buffer: ReceiveBuffer
    /// Whether the peer is a client, which masks its frames.
    let peerIsClient: Bool
    /// The maximum length of a frame's payload.
    static let limit = Connection.receiveLimit

    fileprivate struct Placed {
        var frame: WebSocketFrame
        var range: Range<Int>
    }

    private enum Next {
        case frame(Placed)
        case incomplete
        case result(InputMatcher.Result)
    }

    private func next(from offset: Int) -> Next {
        let unread = buffer.unread
        guard offset < unread.count else { return .incomplete }
        let rest = unread[(unread.startIndex + offset)...]
        switch WebSocketFrame.scan(rest.span, limit: Self.limit) {
        case .incomplete: return .incomplete
        case .frame(let frame, let length): return .frame(Placed(frame: frame, range: offset..<offset + length))
        case .tooLong(let length): return .result(tooLong(length))
        }
    }

    /// Returns the next frame, or a mismatch if RFC 6455 forbids that frame.
    private func nextAllowed(_ progress: inout InputProgress) -> Next {
        guard progress.spend(1) else { return .incomplete }
        let next = next(from: progress.frames.offset)
        guard case .frame(let placed) = next else { return next }
        if let what = placed.frame.violation(peerIsClient: peerIsClient) {
            return .result(
                mismatch(
                    "received \(WebSocketFrame.name(of: placed.frame.opcode)) that \(what)", placed.frame,
                    hints: ["use `expect message ws.frame(…)` to expect a frame that the RFC forbids"]))
        }
        // The offset is moved past the frame, so that the frame isn't examined again.
        _ = progress.spend(placed.range.count)
        progress.frames.offset = placed.range.upperBound
        return next
    }

    /// Passes the allowed frames to `look`, in order, until `look` returns a result.
    private func search(
        _ progress: inout InputProgress, _ look: (Placed, inout InputProgress) -> InputMatcher.Result?
    ) -> InputMatcher.Result {
        while true {
            switch nextAllowed(&progress) {
            case .incomplete: return .pending
            case .result(let result): return result
            case .frame(let placed): if let result = look(placed, &progress) { return result }
            }
        }
    }

    // MARK: Messages

    /// Evaluates the next data message: its content and its kind (RFC 6455, section 5.6).
    ///
    /// - Parameter kind: the expected kind; `nil` for either kind.
    func message(
        _ text: ExpectedText, _ name: Name?, _ kind: WebSocketMessageKind?, _ progress: inout InputProgress
    ) -> InputMatcher.Result {
        search(&progress) { placed, progress in
            let frame = placed.frame
            if frame.opcode == WebSocketFrame.Opcode.close {
                return mismatch(
                    "received \(frame.description), expected \(text.described(as: "message"))", frame,
                    hints: [
                        "use `expect close` to expect the close frame: no message can follow it (RFC 6455, "
                            + "section 5.5.1)"
                    ])
            }
            if frame.opcode > 8 { return nil }
            let isFirst = progress.frames.fragments.isEmpty
            if isFirst == (frame.opcode == WebSocketFrame.Opcode.continuation) {
                return mismatch(
                    isFirst
                        ? "received a continuation without a message to continue (RFC 6455, section 5.4)"
                        : "received a new message before the end of the previous one (RFC 6455, section 5.4)", frame)
            }
            progress.frames.fragments.append(placed)
            return frame.isFinal ? compare(progress.frames.fragments, text, name, kind) : nil
        }
    }

    private func compare(
        _ fragments: [Placed], _ text: ExpectedText, _ name: Name?, _ kind: WebSocketMessageKind?
    ) -> InputMatcher.Result {
        let content = fragments.flatMap(\.frame.payload)
        let received: WebSocketMessageKind = fragments[0].frame.opcode == WebSocketFrame.Opcode.text ? .text : .binary
        if let kind, kind != received {
            return .mismatch(
                InputMatcher.Mismatch(
                    summary:
                        "received a \(received.rawValue) message, "
                        + "expected \(text.described(as: "\(kind.rawValue) message"))",
                    expected: text.value,
                    actual: Array(content.prefix(max(InputMatcher.shownLimit, text.value?.count ?? 0))),
                    hints: ["use `expect message \(received.rawValue) …` to expect a \(received.rawValue) message"]))
        }
        if received == .text, String(validating: content, as: UTF8.self) == nil {
            return .mismatch(
                InputMatcher.Mismatch(
                    summary: "received a text message that is not UTF-8 (RFC 6455, section 8.1)", expected: text.value,
                    actual: Array(content.prefix(max(InputMatcher.shownLimit, text.value?.count ?? 0))),
                    hints: ["use `expect message ws.text(…)` to expect a frame with any payload"]))
        }
        guard let groups = text.match(content) else {
            let actual = Array(content.prefix(max(InputMatcher.shownLimit, text.value?.count ?? 0)))
            return .mismatch(
                InputMatcher.Mismatch(
                    summary: "received \(ReceivedText.value(actual, expected: text.described(as: "message")))",
                    expected: text.value, actual: actual,
                    hints: NearMiss.line(expected: text, actual: content, framing: .websocket)))
        }
        return taken(fragments, groups + (name.map { [($0.value, .bytes(content))] } ?? []))
    }

    // MARK: Control frames

    /// Evaluates the next control frame. A complete data message before the control frame must be expected first; the
    /// fragments of an incomplete message stay unread.
    ///
    /// - Parameter content: the payload or, for a close frame with a status code, the reason; `nil` for any content.
    func control(
        _ opcode: UInt8, code: Int? = nil, _ content: [UInt8]?, _ progress: inout InputProgress
    ) -> InputMatcher.Result {
        search(&progress) { placed, _ in
            let frame = placed.frame
            if frame.opcode < 8, !frame.isFinal { return nil }
            guard frame.opcode == opcode else {
                return mismatch(
                    "received \(frame.description), expected \(WebSocketFrame.name(of: opcode))", frame)
            }
            return compare(placed, content, code)
        }
    }

    private func compare(_ placed: Placed, _ content: [UInt8]?, _ code: Int?) -> InputMatcher.Result {
        var payload = placed.frame.payload
        if let code {
            let received = placed.frame.closeCode.map(Int.init)
            guard received == code else {
                return mismatch(
                    "received a close frame with \(received.map { "code \($0)" } ?? "no code"), expected code \(code)",
                    placed.frame)
            }
            payload.removeFirst(2)
        }
        if content == nil || content == payload { return taken([placed], []) }
        return .mismatch(
            InputMatcher.Mismatch(
                summary: "received \(placed.frame.description) with an unexpected payload", expected: content,
                actual: payload))
    }

    // MARK: Frames

    /// Evaluates the next frame of any kind.
    func whole(_ wanted: ExpectedFrame) -> InputMatcher.Result {
        var expected = wanted.frame
        expected.key = nil
        switch next(from: 0) {
        case .incomplete: return .pending
        case .result(let result): return result
        case .frame(let placed):
            var frame = placed.frame
            let isMasked =
                switch wanted.mask {
                case .asMust: (frame.key != nil) == peerIsClient
                case .unmasked: frame.key == nil
                case .masked: frame.key != nil
                case .key(let key): frame.key == key
                }
            frame.key = nil
            if frame == expected, isMasked { return taken([placed], []) }
            var hints: [String] = []
            if frame == expected {
                hints.append(
                    placed.frame.key.map { "the frame is masked with the key \(Escaped.phrase($0))" }
                        ?? "the frame is unmasked")
            }
            let (received, other) = (placed.frame.description, expected.description)
            return .mismatch(
                InputMatcher.Mismatch(
                    summary: received == other
                        ? "received \(received) that differs from the expected frame"
                        : "received \(received), expected \(other)",
                    expected: expected.payload, actual: placed.frame.payload, hints: hints))
        }
    }

    // MARK: Results

    private func taken(_ frames: [Placed], _ bindings: [(String, Value)]) -> InputMatcher.Result {
        let end = frames.last?.range.upperBound ?? 0
        return .taken(
            frames.map(\.range), completed: end > 0 ? buffer.arrival(of: end - 1) : nil, bindings: bindings)
    }

    private func mismatch(_ summary: String, _ frame: WebSocketFrame, hints: [String] = []) -> InputMatcher.Result {
        .mismatch(
            InputMatcher.Mismatch(
                summary: summary, actual: Array(frame.payload.prefix(InputMatcher.shownLimit)), hints: hints))
    }

    private func tooLong(_ length: UInt64) -> InputMatcher.Result {
        let actual = Array(buffer.unread.prefix(14))
        if length > UInt64(Int64.max) {
            return .mismatch(
                InputMatcher.Mismatch(
                    summary: "received a frame whose length has its highest bit set (RFC 6455, section 5.2)",
                    actual: actual))
        }
        return .mismatch(
            .beyond(
                "received a frame of \(length) bytes, which is more than the harness keeps (64 MiB)", actual: actual))
    }
}
