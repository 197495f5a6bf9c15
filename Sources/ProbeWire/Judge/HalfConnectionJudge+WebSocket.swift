import ProbeBase

extension HalfConnectionJudge {
    /// Whole frames of WebSocket so far.
    func judgeFrames(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        judge("WebSocket frame", comparison, bound, \.count)
    }

    /// Whole data messages of WebSocket so far.
    func judgeWebSocketMessages(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        judge("message (websocket)", comparison, bound, \.messageCount)
    }

    private func judge(
        _ noun: String, _ comparison: Comparison, _ bound: Int, _ number: KeyPath<WebSocketFrames, Int>
    ) -> WireVerdict {
        let bytes = flow.stream.firstBytes.span
        if bytes.count > 0, TLSRecords.plainText(in: bytes) == (0, true) {
            return .inconclusive("\(name) speaks TLS: its frames are encrypted, and `records` counts what is seen")
        }
        let frames = WebSocketFrames(bytes)
        let count = frames[keyPath: number]
        if case .tooLong(let offset, let length) = frames.rest {
            return .failed(
                WireFailure(
                    "\(name) sent no WebSocket frame at offset \(offset): its length is \(length), and the highest bit must be 0",
                    details: ["WebSocket frames before it: \(frames.count)"]))
        }
        // `frames 0` says that none has begun; every other statement about no frame is about nothing.
        if count == 0, !(comparison == .equal && bound == 0) {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            return nothing("no \(noun) from \(name)", details: rest(of: frames))
        }
        if count == 0, frames.count == 0, case .unfinished(let offset, _, _) = frames.rest {
            return .failed(WireFailure("\(name) has begun a WebSocket frame at offset \(offset), 0 expected"))
        }
        let monotonic = MonotonicBound(count, comparison, bound, canGrow: canGrow)
        if monotonic.isUnsettled {
            if let streamDoubt { return .inconclusive(streamDoubt) }
            if let streamPending { return streamPending }
        }
        return monotonic.verdict(
            WireFailure(
                "\(name) sent \(ByteText.count(count, noun)), \(comparison.rawValue) \(bound) expected",
                details: rest(of: frames)))
    }

    /// What stands behind the last whole frame.
    private func rest(of frames: WebSocketFrames) -> [String] {
        switch frames.rest {
        case .nothing, .tooLong: []
        case .unfinishedHead(let seen):
            seen == 0 ? [] : ["the head of its opening handshake is unfinished, \(ByteText.count(seen, "byte")) of it"]
        case .refused(let line): ["its answer to the opening handshake is \(Escaped.excerpt(line)), not 101"]
        case .unfinished(let offset, let seen, let total):
            [
                "whole WebSocket frames: \(frames.count)",
                "unfinished at offset \(offset): "
                    + (total.map { "\(seen) of \(ByteText.count($0, "byte"))" }
                        ?? "\(ByteText.count(seen, "byte")) of its header"),
            ]
        }
    }
}
