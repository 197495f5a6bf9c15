import ProbeBase

/// Findings about windows, and about the factors that limit transfers.
struct WindowFindings: FindingGroup {
    let list: FindingList

    func find() {
        for side in ConversationSide.allCases {
            addZeroWindow(sender: side)
            addWindowLimit(sender: side)
            addSmallWindow(sender: side)
            addSilly(sender: side)
            addApplicationLimit(sender: side)
        }
    }

    private func addZeroWindow(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        let reader = side.opposite
        var time = sender.zeroWait.time
        var isAtEnd = false
        if let zero = sender.zero, zero.openedAt == nil, flow.phase != .closing, flow.reset?.isObeyed != true,
            sender.zeroWait.time > 0 || zero.isProbed
        {
            isAtEnd = true
            time += context.trailing
        }
        guard time > 0, flow.clock.isReliable else { return }
        let share = Double(time) / Double(max(isAtEnd ? context.watched : context.duration, 1))
        let sinceEnd = isAtEnd ? context.watched - (sender.zero?.time ?? 0) : 0
        let severity: FindingSeverity =
            (time >= Time.second && share >= 0.1) || sinceEnd >= Time.second
            ? .problem : time >= Time.second / 2 && share >= 0.1 ? .warning : .note
        let begin = sender.zeroWait.first ?? sender.zero?.time ?? 0
        let sentence =
            isAtEnd
                && sender.zero.map { $0.time <= begin || sender.zeroWait.time <= context.duration - $0.time } == true
            ? "The \(reader.word) stopped reading: its receive window was 0 from \(seconds(sender.zero?.time ?? begin)) to the end of the capture (\(text(sinceEnd)))."
            : "The \(reader.word) stopped reading: its receive window was 0 for \(text(time)), first from \(seconds(begin)) on."
        add(
            .closedWindow, severity, sender.isZeroProbeAnswered ? .certain : .likely, FindingSide(reader),
            sender.zeroWait.evidence, sentence,
            next:
                "find out what the process on \(context.endpoint(reader)) is waiting for (`ss -tnpm`, a stack dump)",
            rivals: ["lost window updates"],
            numbers: [
                ("zero-window", .seconds(nanoseconds: time)), ("from", .seconds(nanoseconds: begin)),
                ("probes", .integer(sender.zeroProbeCount)),
            ],
            explains: time)
    }

    private func addWindowLimit(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard let share = isWindowLimited(side), let roundTrip = flow.roundTrip, roundTrip > 0,
            flow.clock.isReliable
        else { return }
        let half = sender.windows.samples.partition(around: context.duration / 2)
        let isGrowing = Double(half.later) > Double(half.earlier) * 1.1
        let isSerious =
            sender.transferTime >= Time.second && roundTrip >= 5 * Time.millisecond && !isGrowing
        let rate = Double(sender.largestWindow) / (Double(roundTrip) / 1e9)
        let reader = side.opposite
        add(
            .windowLimited, isSerious ? .warning : .note, sender.isRoomUnknown ? .likely : .certain,
            FindingSide(reader), Evidence(sender.lastDataPacket),
            "The \(reader.word)'s receive window limited the transfer for \(text(sender.receiveWindowTime)) (\(percent(share)) of it): \(size(sender.largestWindow)) per \(text(roundTrip)) round trip allows \(self.rate(rate)).",
            next:
                "enlarge the receive buffer of the \(reader.word) (`sysctl net.ipv4.tcp_rmem`, SO_RCVBUF), or make it read faster",
            rivals: ["a window scale that the capture doesn't show"],
            numbers: [
                ("window", .integer(sender.largestWindow)), ("round-trip", .seconds(nanoseconds: roundTrip)),
                ("limited", .seconds(nanoseconds: sender.receiveWindowTime)), ("share", .number(share)),
                ("bytes-per-second", .integer(Int(rate))),
            ],
            explains: isSerious ? sender.receiveWindowTime : 0)
    }

    private func addSmallWindow(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.dataPacketCount > 0, sender.largestWindow > 0, !sender.isRoomUnknown else { return }
        let segment = Int(min(context.flow.segmentSize(of: side), 1460))
        guard sender.largestWindow < max(4 * segment, 8192) else { return }
        let limits = isWindowLimited(side) != nil
        let reader = side.opposite
        add(
            .smallWindow, limits ? .warning : .note, .certain, FindingSide(reader),
            Evidence(sender.lastDataPacket),
            "The \(reader.word)'s receive window was never larger than \(size(sender.largestWindow))\(limits ? ", which limited the transfer" : "").",
            next: "enlarge the receive buffer of the \(reader.word) (SO_RCVBUF)",
            numbers: [("window", .integer(sender.largestWindow))],
            explains: limits ? sender.receiveWindowTime : 0)
    }

    private func addSilly(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.sillyCount >= 5 else { return }
        let reader = side.opposite
        add(
            .sillyWindow, .warning, .certain, FindingSide(reader), sender.sillyEvidence,
            "The \(reader.word) opened its window a few bytes at a time: \(count(sender.sillyCount, "segment")) smaller than a quarter of a full segment filled it.",
            next:
                "make the \(reader.word) read larger pieces; its stack should not announce small windows (RFC 9293, section 3.8.6.2.2)",
            numbers: [("segments", .integer(sender.sillyCount))])
    }

    private func addApplicationLimit(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.transferTime >= 200 * Time.millisecond, context.flow.clock.isReliable,
            sender.applicationTime * 2 >= sender.transferTime
        else { return }
        let share = Double(sender.applicationTime) / Double(sender.transferTime)
        add(
            .applicationLimited, .note, context.isAt(side) ? .certain : .likely, FindingSide(side),
            Evidence(sender.lastDataPacket),
            "The \(side.word)'s application limited the transfer for \(text(sender.applicationTime)) (\(percent(share)) of it): it had nothing to send.",
            next: "profile the program that sends on \(context.endpoint(side))",
            rivals: ["a sender that is limited by its own send buffer"],
            numbers: [("limited", .seconds(nanoseconds: sender.applicationTime)), ("share", .number(share))])
    }
}

extension Array where Element == (time: Int64, window: Int) {
    /// Returns the largest window before the given time, and the largest window from that time on.
    fileprivate func partition(around time: Int64) -> (earlier: Int, later: Int) {
        var result = (earlier: 0, later: 0)
        for sample in self {
            if sample.time < time {
                result.earlier = Swift.max(result.earlier, sample.window)
            } else {
                result.later = Swift.max(result.later, sample.window)
            }
        }
        return result
    }
}
