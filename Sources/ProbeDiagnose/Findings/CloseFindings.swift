import ProbeBase

/// Findings about how the connection ended.
struct CloseFindings: FindingGroup {
    let list: FindingList

    func find() {
        addReset()
        for side in ConversationSide.allCases {
            addDataLost(sender: side)
        }
        addHalfClosed()
    }

    private func addReset() {
        let flow = context.flow
        guard let reset = flow.reset else { return }
        let side = reset.side
        let goesOn = !reset.laterPackets.isEmpty
        // A few packets with another hop limit are not enough without another sign.
        let isStrange = reset.mayBeForeign && reset.stray > 0
        if reset.isForeign || goesOn || isStrange {
            var evidence = Evidence(reset.packet, reset.stray)
            evidence.add(reset.laterPackets)
            let reasons = [
                reset.isForeign || isStrange
                    ? "its hop limit differs from that of the \(side.word)'s other packets" : nil,
                reset.stray > 0
                    ? "another reset followed with a sequence number that the \(side.word) never reached" : nil,
                reset.isOddlyNumbered ? "its IP identification does not match the other packets" : nil,
                goesOn
                    ? "the \(side.word) sent \(ByteText.count(reset.laterPackets.total, "packet")) after it"
                    : nil,
            ].compactMap(\.self)
            let isProven = goesOn && reset.isForeign && reset.isOddlyNumbered
            // Load balancers in front of a server often send a reset of their own after both sides have closed.
            let isAfterClose = reset.hasOwnFIN && reset.hasPeerFIN
            add(
                .injectedReset, isAfterClose ? .note : .problem, isProven ? .certain : .likely, .middlebox, evidence,
                "A reset with the \(side.word)'s address as its source was probably sent by another machine: \(reasons.joined(separator: ", and ")).",
                next:
                    "look for a firewall, an intrusion prevention system or a load balancer on the path that resets connections",
                rivals: ["a \(side.word) that reset the connection and went on"],
                numbers: [("at", .seconds(nanoseconds: reset.time))], explains: 0)
        }
        guard reset.isObeyed, flow.set.refusal == nil else { return }
        addObeyed(reset)
    }

    private func addObeyed(_ reset: ResetObservation) {
        let flow = context.flow
        let side = reset.side
        // An alert that announces the end of a TLS connection is no data that could be lost.
        let outstanding = reset.isOnlyAlertOutstanding ? 0 : reset.ownOutstanding + reset.peerOutstanding
        // A client that closes first chooses not to read what the server says at the end.
        let isGoodbye =
            (side == .client || !context.hasKnownRoles) && reset.hasOwnFIN && reset.isAfterClose && outstanding < 1_460
            && lateAnswer(reset) == nil
        // An alert after the end of the connection is of no use to anyone.
        let isAlert =
            reset.isOnlyAlertOutstanding && reset.ownOutstanding == 0 && reset.peerOutstanding > 0 && reset.isAfterClose
            && reset.hasOwnFIN && !reset.isInsideMessage && lateAnswer(reset) == nil
        let severity: FindingSeverity =
            isAlert
            ? .note
            : isGoodbye && !reset.hasPeerFIN
                ? .warning
                : outstanding > 0 && !(reset.hasOwnFIN && reset.hasPeerFIN) || reset.isInsideMessage
                    ? .problem
                    : (reset.hasOwnFIN && reset.hasPeerFIN) || reset.hasPeerFIN ? .note : .warning
        var (reason, explanation) = reason(of: reset)
        let late = lateAnswer(reset)
        let isCut = late != nil && flow.dialogue.late == nil
        if let late {
            explanation += ", because its answer \(isCut ? "began only" : "came") \(text(late.wait)) after the request"
        }
        let lost =
            outstanding > 0
            ? "; \(size(Int(outstanding))) of data \(outstanding == 1 ? "was" : "were") not acknowledged" : ""
        var evidence = Evidence(reset.cause, reset.packet)
        if let late { evidence.add(Evidence(late.request, late.answer)) }
        add(
            side == .client ? .resetByClient : .resetByServer, severity,
            reset.mayBeForeign || isCut ? .likely : .certain,
            late == nil ? FindingSide(side) : FindingSide(side.opposite), evidence,
            "The \(side.word) reset the connection\(flow.clock.isReliable ? " after \(seconds(reset.time))" : ""): \(explanation)\(lost).",
            next: late == nil
                ? "look at why the program on \(context.endpoint(side)) ended the connection this way (its log, timeouts, crashes)"
                : "find out why the program on \(context.endpoint(.server)) answered so late, and compare with the client's timeout",
            rivals: isCut
                ? ["a client that had received enough, or limits the time for the whole answer"]
                : ["another machine that sent the reset in the \(side.word)'s name"],
            numbers: [
                ("reason", .string(reason)),
                ("reason-certainty", .string(reason == "data-after-close" ? "certain" : "likely")),
                ("at", .seconds(nanoseconds: reset.time)), ("unacknowledged", .integer(Int(outstanding))),
                ("silence", .seconds(nanoseconds: reset.silence)),
            ] + (late.map { [("answer-after", .seconds(nanoseconds: $0.wait))] } ?? []),
            explains: late?.wait ?? 0)
    }

    /// Returns the server's answer to a request, if the client reset the connection because it had closed it in the
    /// meantime, or because the answer began so late that it was not complete when the client closed.
    private func lateAnswer(_ reset: ResetObservation) -> Dialogue.Answer? {
        let dialogue = context.flow.dialogue
        guard reset.side == .client, reset.isAfterClose, let answer = dialogue.late ?? dialogue.cutAnswer,
            answer.wait >= Time.second / 2
        else { return nil }
        // A client that closes at once does not do so because of the server.
        let patience = (context.flow.client.fin?.time ?? 0) - answer.asked
        return (dialogue.late == nil ? answer.wait >= patience / 2 : patience >= answer.wait / 2) ? answer : nil
    }

    private func reason(of reset: ResetObservation) -> (key: String, text: String) {
        let peer = reset.side.opposite
        if reset.isAfterClose {
            return ("data-after-close", "the \(peer.word) sent data after the \(reset.side.word) had closed")
        }
        if !reset.hasHandshake {
            return ("half-open", "it probably did not know the connection, for example after a restart")
        }
        let timeouts: [Int64] = [30, 60, 300, 350, 3600]
        for timeout in timeouts {
            let expected = timeout * Time.second
            if abs(reset.silence - expected) <= expected / 50 {
                return (
                    "idle-timeout",
                    "the connection had been idle for \(text(reset.silence)), probably until a timeout of \(timeout) s"
                )
            }
        }
        if reset.hasUnreadData {
            return ("unread-data", "its program probably closed the socket without reading all data")
        }
        return ("abort", "its program probably aborted the connection")
    }

    private func addDataLost(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard let fin = sender.fin else { return }
        let time = flow.reset?.isObeyed == true ? flow.reset?.time ?? context.duration : context.watched
        let gap = fin.position - max(sender.acknowledged, 1)
        // No sender goes far beyond the window. Only bytes that were captured are known to have been sent.
        let reach = sender.payloadLength + Int64(max(sender.largestWindow, 1 << 16))
        let bytes = min(gap, sender.payloadLength)
        // An alert that announces the end of a TLS connection is no data that could be lost.
        guard bytes > 0, gap <= reach, time - fin.time >= 0, !flow.isTranslated, !sender.isOnlyAlertOutstanding
        else { return }
        let isReset = flow.reset?.isObeyed == true
        guard isReset || time - fin.time >= Time.second else { return }
        add(
            .dataLostAtClose, .problem, time - fin.time >= Time.second ? .certain : .likely,
            FindingSide(side.opposite), Evidence(sender.lastDataPacket, fin.packet),
            "\(size(Int(bytes))) that the \(side.word) sent before it closed \(bytes == 1 ? "was" : "were") never acknowledged.",
            next: "check whether the \(side.opposite.word) read everything before it closed",
            rivals: ["an acknowledgment that was sent after the end of the capture"],
            numbers: [("bytes", .integer(Int(bytes)))], explains: 0)
    }

    private func addHalfClosed() {
        let flow = context.flow
        guard flow.clock.isReliable else { return }
        for side in ConversationSide.allCases {
            guard let closed = flow[side].finAcknowledged else { continue }
            let other = side.opposite
            if let reset = flow.reset, reset.isObeyed, reset.side == side { continue }
            let begin = max(closed.time, flow[other].lastDataTime ?? 0)
            let end =
                flow[other].fin?.time ?? (flow.reset?.isObeyed == true ? flow.reset?.time : nil) ?? context.watched
            let wait = end - begin
            guard flow[other].fin.map({ $0.time > closed.time }) ?? true, wait >= 2 * Time.second else { continue }
            let isOpen = flow[other].fin == nil && flow.reset?.isObeyed != true
            // A client usually notices that a server has closed an idle connection when it wants to use it again.
            let isPooled =
                side == .server && flow[other].lastDataTime ?? 0 < closed.time && (isBetweenMessages || isIdle)
            let isLong = wait >= 60 * Time.second
            add(
                .halfClosed, isPooled ? (isLong ? .warning : .note) : isLong ? .problem : .warning, .certain,
                FindingSide(other),
                Evidence(flow[side].fin?.packet ?? 0, closed.packet),
                "The \(side.word) closed its side, and the \(other.word) \(isOpen ? "has not closed" : "did not close") its own for \(text(wait)).",
                next:
                    "check whether the program on \(context.endpoint(other)) notices the end of the stream and closes its socket (CLOSE_WAIT in `ss -tan`)",
                numbers: [("wait", .seconds(nanoseconds: wait))], explains: wait)
        }
    }

    /// Whether the server closed a connection that had been idle, if the beginning of the connection, which shows the
    /// protocol, was not captured.
    private var isIdle: Bool {
        let (client, server) = (context.flow.client, context.flow.server)
        guard client.syn == nil, server.syn == nil, let fin = server.fin else { return false }
        return fin.time - max(client.lastDataTime ?? 0, server.lastDataTime ?? 0) >= Time.second
            || client.dataPacketCount + server.dataPacketCount == 0
    }

    /// Whether both sides speak HTTP, or TLS, and no message is incomplete.
    private var isBetweenMessages: Bool {
        let (own, other) = (context.flow.client.progress, context.flow.server.progress)
        guard !own.isIncomplete, !other.isIncomplete else { return false }
        return (own.kind == .http && other.kind == .http) || (own.kind == .tls && other.kind == .tls)
    }
}
