import ProbeBase

/// Findings about lost, late and repeated packets.
struct LossFindings: FindingGroup {
    let list: FindingList

    func find() {
        if context.flow.isTranslated { return addCopies() }
        for side in ConversationSide.allCases {
            addTimeouts(sender: side)
            addLoss(sender: side)
            addTail(sender: side)
            addReordering(sender: side)
            addSpurious(sender: side)
            addBlackHole(sender: side)
            addFilledBlackHole(sender: side)
            addReneging(sender: side)
            addVanished(sender: side)
            addQueue(sender: side)
        }
        addCopies()
    }

    private func addTimeouts(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.timeoutCount > 0, sender.timeoutTime > 0, context.flow.clock.isReliable else { return }
        // Nobody waits for a FIN alone.
        let time = sender.timeoutTime - sender.closeTimeoutTime
        let share = context.share(time)
        let severity: FindingSeverity =
            time >= 3 * Time.second || (time >= Time.second && share >= 0.1)
            ? .problem : time >= 200 * Time.millisecond && share >= 0.05 ? .warning : .note
        // If the peer never acknowledged the data, it may have vanished, so that nothing was lost on the path.
        let isAnswered = sender.backoff == nil
        let isProven = sender.areTimeoutsCaptured && sender.spuriousCount == 0 && isAnswered
        let series =
            sender.longestBackoff > 1
            ? "; the same data was sent again up to \(sender.longestBackoff) times" : ""
        add(
            .timeoutStall, severity, isProven ? .certain : .likely, .path(to: side.opposite), sender.timeoutEvidence,
            "The \(side.word) waited \(text(sender.timeoutWaits)) for retransmission timeouts (\(count(sender.timeoutCount, "timeout")), the longest \(text(sender.longestTimeout)))\(series).",
            next:
                "find where packets towards the \(side.opposite.word) are lost (`mtr`, interface counters, policers), \(captureAdvice(side))",
            rivals: isAnswered
                ? ["acknowledgments that were lost or delayed"]
                : ["a peer that vanished", "acknowledgments that were lost or delayed"],
            numbers: [
                ("timeout", .seconds(nanoseconds: sender.timeoutWaits)), ("timeouts", .integer(sender.timeoutCount)),
                ("longest", .seconds(nanoseconds: sender.longestTimeout)),
                ("back-off", .integer(sender.longestBackoff)), ("share", .number(share)),
            ],
            explains: time)
    }

    /// Returns advice on where to capture in order to locate the loss of packets from the given side.
    private func captureAdvice(_ side: ConversationSide) -> String {
        let sender = context.flow[side]
        if sender.lost.after == sender.lost.before { return "or capture at another point of the path" }
        return sender.lost.after > sender.lost.before
            ? "or capture closer to the \(side.opposite.word): they are lost after the capture point"
            : "or capture closer to the \(side.word): they are lost before the capture point"
    }

    private func addLoss(sender side: ConversationSide) {
        let sender = context.flow[side]
        let lost = sender.lost.count
        guard lost > 0, sender.dataPacketCount > 0 else { return }
        let share = Double(lost) / Double(sender.dataPacketCount)
        let severity: FindingSeverity =
            lost >= 5 && share >= 0.01 ? .problem : lost >= 5 && share >= 0.001 ? .warning : .note
        let place =
            sender.lost.before == 0
            ? ", after the capture point"
            : sender.lost.after == 0
                ? ", before the capture point"
                : " (\(sender.lost.before) before and \(sender.lost.after) after the capture point)"
        add(
            .loss, severity, sender.lost.isProven ? .certain : .likely, .path(to: side.opposite),
            sender.lost.evidence,
            "\(count(lost, "packet")) of \(sender.dataPacketCount) from the \(side.word) \(lost == 1 ? "was" : "were") lost (\(percent(share)))\(place).",
            next:
                "look for drops on the way to the \(side.opposite.word) (`mtr`, interface counters, `nstat`), \(captureAdvice(side))",
            rivals: ["acknowledgments that were lost or delayed", "packets that were only late"],
            numbers: [
                ("lost", .integer(lost)), ("before", .integer(sender.lost.before)),
                ("after", .integer(sender.lost.after)), ("packets", .integer(sender.dataPacketCount)),
                ("share", .number(share)),
            ],
            explains: context.flow.budget[.recovery])
    }

    private func addTail(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.tailCount > 0 else { return }
        add(
            .tailLoss, sender.longestTail > Time.second / 2 ? .warning : .note,
            sender.isTailProven ? .certain : .likely, .path(to: side.opposite), sender.tailEvidence,
            "The last segment before a pause was sent again \(sender.tailCount == 1 ? "once" : "\(sender.tailCount) times"), after up to \(text(sender.longestTail)), because its acknowledgment did not arrive.",
            next: "look for losses on the way to the \(side.opposite.word)",
            rivals: ["an acknowledgment that was lost or delayed"],
            numbers: [
                ("probes", .integer(sender.tailCount)), ("longest", .seconds(nanoseconds: sender.longestTail)),
            ],
            explains: sender.longestTail)
    }

    private func addReordering(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.reorderedCount > 0, sender.dataPacketCount > 0 else { return }
        let share = Double(sender.reorderedCount) / Double(sender.dataPacketCount)
        add(
            .reordering, share >= 0.01 ? .warning : .note, sender.isReorderingProven ? .certain : .likely,
            .path(to: side.opposite), sender.reorderedEvidence,
            "\(count(sender.reorderedCount, "segment")) of the \(side.word) (\(percent(share))) \(sender.reorderedCount == 1 ? "was" : "were") overtaken by later ones before the capture point.",
            next:
                "look for parallel links or queues on the path that split one connection (ECMP, bonding, multi-queue devices)",
            rivals: ["segments that were lost and retransmitted immediately"],
            numbers: [("segments", .integer(sender.reorderedCount)), ("share", .number(share))])
    }

    private func addSpurious(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.spuriousCount > 0, sender.dataPacketCount > 0 else { return }
        let share = Double(sender.spuriousCount) / Double(sender.dataPacketCount)
        add(
            .spuriousRetransmission, share >= 0.01 && sender.spuriousCount >= 5 ? .warning : .note,
            sender.isSpuriousProven ? .certain : .likely, FindingSide(side), sender.spuriousEvidence,
            "The \(side.word) sent \(count(sender.spuriousCount, "packet")) again (\(percent(share))) that the \(side.opposite.word) had already received.",
            next: "look for sudden delays or lost acknowledgments on the way back to the \(side.word)",
            rivals: ["an acknowledgment that was lost after the capture point"],
            numbers: [("packets", .integer(sender.spuriousCount)), ("share", .number(share))])
    }

    private func addBlackHole(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        let headers = context.client.address.family == .v6 ? 60 : 40
        let minimum = context.client.address.family == .v6 ? 1280 : 577
        guard let stuck = sender.stuck, stuck.copies >= 3, stuck.payload + headers >= minimum,
            sender.largestAcknowledged < stuck.payload, sender.acknowledged > 0,
            // If the beginning is missing, larger packets may have arrived before.
            sender.largestAcknowledged > 0 || sender.syn != nil
        else { return }
        // If the peer no longer answers smaller packets either, it has vanished, and the size of the packets is not the
        // cause.
        let isAlive = flow[side.opposite].lastTime > stuck.time
        guard isAlive || sender.dataEnd <= stuck.end || sender.smallestUnanswered >= 536 else { return }
        if let icmp = flow.icmp, sender.acknowledged >= stuck.end || !icmp.isTooBig { return }
        let isProven = stuck.isPassed || flow.icmp?.isTooBig == true
        add(
            .mtuBlackHole, .problem, isProven ? .certain : .likely, .path(to: side.opposite), stuck.evidence,
            "Large packets of the \(side.word) disappear: a packet with \(stuck.payload) bytes of data was sent \(stuck.copies) times and never acknowledged, while \(sender.largestAcknowledged > 0 ? "smaller ones (up to \(count(sender.largestAcknowledged, "byte")))" : "packets without data") arrived.",
            next:
                "check the MTU of the path (`tracepath \((side.opposite == .client ? context.client : context.server).address)`), and that no firewall drops ICMP \"fragmentation needed\"; `sysctl net.ipv4.tcp_mtu_probing=1` works around it",
            rivals: ["a peer that vanished", "a device that drops packets because of their content"],
            numbers: [
                ("payload", .integer(stuck.payload)), ("copies", .integer(stuck.copies)),
                ("largest-acknowledged", .integer(sender.largestAcknowledged)),
            ],
            explains: context.watched - stuck.time)
    }

    /// Adds the finding `mtu-black-hole` if large packets disappear before they reach the capture point.
    private func addFilledBlackHole(sender side: ConversationSide) {
        let sender = context.flow[side]
        let headers: Int64 = context.client.address.family == .v6 ? 60 : 40
        let minimum: Int64 = context.client.address.family == .v6 ? 1280 : 577
        guard let pieces = sender.pieces, pieces.count >= 2, pieces.segment + headers >= minimum,
            Int64(sender.largestPayload) < pieces.segment / 10 * 9, context.flow.clock.isReliable
        else { return }
        add(
            .mtuBlackHole, .problem, .likely, .path(to: side.opposite), pieces.evidence,
            "Large packets of the \(side.word) disappear before the capture point: \(count(Int(pieces.missing), "missing byte")) arrived after \(text(pieces.wait)) in pieces of \(count(pieces.payload, "byte")), and no packet with more than \(count(sender.largestPayload, "byte")) of data ever arrived.",
            next:
                "check the MTU of the path (`tracepath \((side.opposite == .client ? context.client : context.server).address)`), and that no firewall drops ICMP \"fragmentation needed\"; `sysctl net.ipv4.tcp_mtu_probing=1` works around it",
            rivals: ["a lost packet of a sender that then sends smaller packets"],
            numbers: [
                ("payload", .integer(Int(pieces.segment))), ("missing", .integer(Int(pieces.missing))),
                ("piece", .integer(pieces.payload)),
                ("largest", .integer(sender.largestPayload)), ("wait", .seconds(nanoseconds: pieces.wait)),
            ],
            explains: pieces.wait)
    }

    private func addReneging(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard !sender.renegingEvidence.isEmpty else { return }
        add(
            .sackReneging, .warning, .certain, FindingSide(side.opposite),
            sender.renegingEvidence,
            "The \(side.opposite.word) dropped data that it had reported as received (SACK): the \(side.word) had to send it again.",
            next:
                "check the memory of the \(side.opposite.word) (`nstat -az TcpExtOfoPruned TcpExtRcvPruned`, `sysctl net.ipv4.tcp_mem`)",
            rivals: ["a device that changes sequence numbers but not SACK blocks"],
            numbers: [("segments", .integer(sender.renegingEvidence.total))])
    }

    /// Adds the finding `vanished` for a capture of only one direction. Data that a sender repeats again and again shows
    /// that no acknowledgment arrived, but nothing else is known about the peer.
    func findUnanswered() {
        for side in ConversationSide.allCases {
            let sender = context.flow[side]
            guard let backoff = sender.backoff, backoff.timeouts >= 3, sender.lastDataTime == backoff.lastTime,
                context.flow[side.opposite].acknowledgedTime <= backoff.since
            else { continue }
            // A FIN need not be acknowledged, because the peer may have forgotten a connection that it has closed.
            if let fin = sender.fin, backoff.position >= fin.position { continue }
            let time = backoff.lastTime - backoff.since
            add(
                .vanished, .note, .likely, FindingSide(side.opposite), sender.timeoutEvidence,
                "The \(side.opposite.word) may have vanished: the \(side.word) sent the same data \(backoff.timeouts + 1) times in \(text(time)), so it received no acknowledgment.",
                next: "check whether \(context.endpoint(side.opposite)) is up, and capture both directions",
                rivals: ["a path that lost all packets of the \(side.word), or all answers"],
                numbers: [("sends", .integer(backoff.timeouts + 1)), ("silence", .seconds(nanoseconds: time))],
                explains: time)
        }
    }

    private func addVanished(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard flow.phase != .setUp || sender.fin != nil else { return }
        let silence = context.duration - sender.unanswered.since
        let isLong =
            (sender.unanswered.count >= 4 && silence >= 500 * Time.millisecond)
            || (sender.unanswered.count >= 3 && silence >= 10 * Time.second)
        if isLong, flow.reset == nil || flow.reset?.side == side, flow[side.opposite].fin == nil,
            sender.zero == nil || sender.zero?.openedAt != nil
        {
            let time = silence
            add(
                .vanished, .problem, .likely, FindingSide(side.opposite), sender.unanswered.evidence,
                "The \(side.opposite.word) vanished: the \(side.word) sent the same data \(sender.unanswered.count) times in \(text(time)), and received nothing.",
                next:
                    "check whether \(context.endpoint(side.opposite)) is up, and whether a firewall or NAT device on the path has forgotten the connection",
                rivals: ["a path that lost all packets of the \(side.word), or all answers"],
                numbers: [("sends", .integer(sender.unanswered.count)), ("silence", .seconds(nanoseconds: time))],
                explains: time + context.trailing)
        }
        let probes = sender.unansweredKeepAlives
        if probes.count >= 3 {
            let time = context.duration - probes.since
            add(
                .keepAliveFailed, .problem, .likely, FindingSide(side.opposite), probes.evidence,
                "The \(side.opposite.word) did not answer \(count(probes.count, "keep-alive")) of the \(side.word) in \(text(time)).",
                next:
                    "check whether \(context.endpoint(side.opposite)) is up, and whether a firewall or NAT device on the path forgets idle connections",
                rivals: ["a path that lost the keep-alives or the answers"],
                numbers: [("keep-alives", .integer(probes.count)), ("silence", .seconds(nanoseconds: time))],
                explains: time + context.trailing)
        }
    }

    /// Adds the finding `bufferbloat` if the delays show that a queue fills up.
    private func addQueue(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard flow.clock.isReliable else { return }
        let beyond = Queueing(sender.loadedDelays, sender.queueing, low: sender.shortestDelay)
        // If the capture was made near the receiver, the queue is between the sender and the capture point.
        let before = Queueing(sender.echo.delays, sender.echo.queueing, low: sender.echo.shortest)
        guard let worse = [beyond, before].compactMap(\.self).max(by: { $0.rise < $1.rise }), worse.rise > 0 else {
            return
        }
        let queueing = worse.correlation
        var minimum = (beyond?.low ?? 0) + (before?.low ?? flow.delay(to: side))
        // A capture clock with a coarse resolution can't measure a shorter time than its tick.
        if minimum == 0 { minimum = min(beyond?.tick ?? Int64.max, before?.tick ?? Int64.max) }
        let slow = minimum + worse.rise
        guard slow > minimum + 100 * Time.millisecond, slow / 4 > minimum, queueing.coefficient > 0.3,
            worse.isRepeated
        else { return }
        add(
            .bufferbloat, .warning, queueing.coefficient > 0.7 && queueing.count >= 20 ? .certain : .likely,
            .path(to: side.opposite), Evidence(sender.slowestDelay?.packet ?? 0),
            "A queue on the way to the \(side.opposite.word) fills up: the round trip grows from \(text(minimum)) to \(text(slow)) (95th percentile) with the amount of data in flight.",
            next:
                "find the bottleneck's queue and shorten it (fq_codel or cake), or limit the sender's rate below the bottleneck's",
            rivals: ["a receiver that acknowledges late when it is busy"],
            numbers: [
                ("round-trip-minimum", .seconds(nanoseconds: minimum)), ("round-trip-p95", .seconds(nanoseconds: slow)),
                ("correlation", .number((queueing.coefficient * 100).rounded() / 100)),
            ],
            explains: slow - minimum)
    }

    private func addCopies() {
        let flow = context.flow
        // The packets that a device has changed are not recognized as copies of each other.
        var evidence = Evidence()
        if flow.isTranslated {
            evidence.add(flow.client.recent.translated)
            evidence.add(flow.server.recent.translated)
        }
        let translatedCount = flow.client.recent.translated.total + flow.server.recent.translated.total
        let copyCount = flow.copies.count + flow.copies.lateCount + (flow.isTranslated ? translatedCount : 0)
        evidence.add(flow.copies.count > 0 ? flow.copies.evidence : flow.copies.lateEvidence)
        // A copy and its original make up a pair. A capture on both sides of a router contains every packet twice, at
        // least in one direction.
        let isOneSideTwice = ConversationSide.allCases.contains {
            flow[$0].copyCount >= 3 && flow[$0].copyCount * 10 >= flow[$0].packetCount * 9
        }
        // The network can't deliver a packet twice to a capture point at its sender.
        let isAtSender = flow.copies.lateSide.map(context.isAt) ?? false
        let isCapturedTwice =
            copyCount * 4 >= flow.packetCount || isOneSideTwice || flow.isTranslated || isAtSender
            || !flow.clock.isReliable
        if flow.copies.lateCount > 0, !isCapturedTwice {
            let share = Double(flow.copies.lateCount) / Double(max(flow.packetCount, 1))
            add(
                .duplicatePackets, share >= 0.01 ? .warning : .note, flow.copies.isLateProven ? .certain : .likely,
                .path(to: flow.copies.lateSide?.opposite ?? .server), flow.copies.lateEvidence,
                "The network delivered \(count(flow.copies.lateCount, "packet")) twice (\(percent(share))).",
                next:
                    "look for a device on the path that duplicates packets (a mirror port, a loop, bonding in broadcast mode)",
                rivals: ["a capture that contains packets twice"],
                numbers: [("packets", .integer(flow.copies.lateCount)), ("share", .number(share))])
        }
        // If every packet is captured twice, half of all packets are copies. The threshold is half of that share.
        if copyCount > 0, isCapturedTwice {
            add(
                .capturedTwice, .note, .certain, .capture, evidence,
                "The capture contains \(count(copyCount, "packet")) of this flow twice\(flow.isTranslated ? ", before and after a device changed the sequence numbers" : "").",
                next: "capture on one interface instead of all (`-i any`), or on one side of the bridge or router",
                numbers: [("packets", .integer(copyCount))])
        }
    }
}

/// The amount by which a measured delay rises above its minimum, and how the rise correlates with the data in flight.
private struct Queueing {
    let low: Int64
    /// The difference between the 95th percentile and the minimum.
    let rise: Int64
    let correlation: Correlation
    /// The shortest measurement other than 0.
    let tick: Int64
    /// Whether at least five measurements exceed the minimum by more than 100 ms.
    let isRepeated: Bool

    init?(_ delays: SampleSeries<Int64>, _ correlation: Correlation, low: Int64?) {
        guard delays.samples.count >= 8, let low, let high = delays.quantile(0.95) else { return nil }
        self.low = low
        rise = high - low
        self.correlation = correlation
        tick = delays.samples.filter { $0 > 0 }.min() ?? 0
        isRepeated = delays.samples.count { $0 > low + 100 * Time.millisecond } >= 5
    }
}
