import ProbeBase

/// Judges statements about what one side sent.
struct HalfConnectionJudge {
    let conversation: Conversation
    let side: ConversationSide
    let names: SideNames

    /// Read where it stands: a capture may have thousands.
    var flow: HalfConnection {
        _read { if side == .client { yield conversation.fromClient } else { yield conversation.fromServer } }
    }

    init(conversation: Conversation, side: ConversationSide, names: SideNames) {
        self.conversation = conversation
        self.side = side
        self.names = names
    }

    var name: String { names[side] }

    /// More data can come from this side.
    var canGrow: Bool {
        !flow.isComplete && flow.rst == nil && conversation.halfConnection(from: side.opposite).rst == nil
    }

    // MARK: What several statements share

    /// There is nothing to judge: waits while something can come.
    func nothing(_ summary: String, details: [String] = []) -> WireVerdict {
        let failure = WireFailure(summary, details: details.isEmpty ? conversation.closeDetails(names) : details)
        return canGrow ? .waiting(failure) : .failed(failure)
    }

    /// Bytes that are lost for good, in words; nil where nothing is missing or the missing bytes may still come.
    var lost: String? {
        guard let missing = flow.missing, let cause = missing.cause else { return nil }
        let length = Int(clamping: missing.length)
        let noun: StaticString = length == 1 ? "byte" : "bytes"
        let why: StaticString =
            switch cause {
            case .notCaptured: "are missing from the capture"
            case .cutShort: "were cut off by the capture's snap length"
            case .limitReached: "did not come before the memory for what follows them was used up"
            }
        let text: TextBytes = "\(length) \(noun) of \(name) at offset \(Int(clamping: missing.offset)) \(why)"
        return text.string
    }

    /// Bytes or segments that were seen, but are not kept.
    var unkept: String? {
        flow.stream.isKeptWhole
            ? nil : "only the first \(ByteText.count(flow.stream.bytes.count, "byte")) of \(name) are kept"
    }

    func judgeZeroWindow() -> WireVerdict {
        if flow.window.shutCount > 0 { return .passed }
        let smallest = flow.window.smallest.map { ["the smallest window was \(ByteText.count($0, "byte"))"] } ?? []
        let failure = WireFailure("\(name) never shut its window", details: smallest)
        return conversation.isClosed ? .failed(failure) : .waiting(failure)
    }

    func judgeWindow(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        guard let largest = flow.window.largest else { return nothing("no window from \(name)") }
        if flow.window.hasUnknownScale {
            return .inconclusive("the capture does not hold the SYNs: the scale factor of the windows is not known")
        }
        return MonotonicBound(largest, comparison, bound, canGrow: !conversation.isClosed).verdict(
            WireFailure("the largest window of \(name) is \(largest) bytes, \(comparison.rawValue) \(bound) expected"))
    }

    /// A probe, or what may be one, counts as a retransmission if it replaced a segment that was lost.
    func judgeRetransmissions(_ comparison: Comparison, _ bound: Int) -> WireVerdict {
        let count = flow.retransmissionCount
        if comparison.holds(count, bound) != comparison.holds(count + flow.doubtfulCount, bound),
            let doubt = conversation.repeatDoubt(of: side, names)
        {
            return .inconclusive(doubt)
        }
        return MonotonicBound(count, comparison, bound, canGrow: canGrow).verdict(
            WireFailure(
                "\(ByteText.count(count, "retransmission")) from \(name), \(comparison.rawValue) \(bound) expected",
                details: conversation.retransmissionDetails(from: side, names)))
    }

    func judgeFirstByte(within bound: Int64) -> WireVerdict {
        guard let first = flow.segments.min(by: { $0.offset < $1.offset }), first.offset == 0 else {
            if let lost { return .inconclusive(lost) }
            return nothing("not a byte from \(name)")
        }
        guard let handshake = conversation.handshakeTime else {
            return .inconclusive("the end of the handshake was not captured")
        }
        // Data may be seen before the end of the handshake: the clock may run back between the directions.
        let delay = max(0, DurationText.difference(from: handshake, to: first.time))
        if delay <= bound { return .passed }
        return .failed(
            WireFailure(
                "the first byte of \(name) came \(DurationText.text(nanoseconds: delay)) after the handshake, "
                    + "\(DurationText.text(nanoseconds: delay - bound)) too late"))
    }
}
