import ProbeBase

/// Findings about how the connection was set up.
struct SetUpFindings: FindingGroup {
    let list: FindingList

    func find() {
        let flow = context.flow
        let hasAnswer = flow.server.syn != nil
        addRefusal()
        addWrongAnswer()
        addICMP()
        if flow.client.synCount >= 2, flow.server.packetCount == 0, flow.icmp == nil, flow.phase == .setUp,
            context.watched >= Time.second
        {
            let span = flow.client.lastSYNTime - (flow.client.syn?.time ?? 0)
            add(
                .noAnswer, .problem, .likely, .pathToServer, flow.client.synPackets,
                "The server never answered: the client sent \(count(flow.client.synCount, "SYN")) in \(text(span)), and received nothing.",
                next:
                    "check that \(context.server.address) is up and reachable, and capture there to see whether the SYNs arrive",
                rivals: [
                    "a firewall that drops the SYNs", "a host that is down or has another address",
                    "answers that are lost or take another path", "a full accept queue",
                ],
                numbers: [("syns", .integer(flow.client.synCount)), ("span", .seconds(nanoseconds: span))],
                explains: context.watched)
        }
        guard hasAnswer, flow.client.syn != nil else { return }
        addRepeatedSYN()
        addSlowHandshake()
        addOptions()
    }

    private func addRefusal() {
        let flow = context.flow
        if let refusal = flow.set.overcome { addOvercome(refusal) }
        guard let refusal = flow.set.refusal, flow.client.syn != nil else { return }
        if flow.server.syn != nil {
            add(
                .injectedReset, .problem, .likely, .middlebox, Evidence(refusal.packet, flow.server.syn?.packet ?? 0),
                "A reset with the server's address as its source answered the SYN, but the server accepted the connection afterward.",
                next:
                    "look for a firewall or an intrusion prevention system on the path that resets connections",
                rivals: ["a server that began to listen in the meantime"],
                numbers: [("at", .seconds(nanoseconds: refusal.time))])
            return
        }
        var evidence = flow.client.synPackets
        evidence.add(refusal.packet)
        let wait = flow.set.longestRefusal
        let answers = flow.set.refusals.total
        evidence.add(flow.set.refusals)
        let answer =
            answers > 1 && answers == flow.client.synCount
            ? "it answered each of \(answers) SYNs with a reset within \(text(wait))"
            : "it answered the SYN with a reset after \(text(wait))"
        add(
            .refused, .problem, .certain, .server, evidence,
            "The server refused the connection: \(answer).",
            next:
                "check that a program listens on \(context.endpoint(.server)) (`ss -ltn` on that host), and that no firewall rejects the port",
            rivals: ["a firewall that rejects the connection in the server's name"],
            numbers: [("answer-after", .seconds(nanoseconds: wait)), ("answers", .integer(max(1, answers)))],
            explains: context.duration)
    }

    /// Adds the finding `refused` for a server that accepted a later SYN of the same connection.
    private func addOvercome(_ refusal: EarlyReset) {
        let flow = context.flow
        let wait = (flow.server.syn?.time ?? refusal.time) - refusal.time
        var evidence = flow.client.synPackets
        evidence.add(Evidence(refusal.packet, flow.server.syn?.packet ?? 0))
        add(
            .refused, .warning, .certain, .server, evidence,
            "The server refused the connection with a reset, and accepted it \(text(wait)) later, when the client tried again.",
            next:
                "check when the program on \(context.endpoint(.server)) began to listen, for example whether it was restarted",
            rivals: ["a firewall that rejected the first attempt in the server's name"],
            numbers: [
                ("answer-after", .seconds(nanoseconds: flow.set.longestRefusal)),
                ("answers", .integer(max(1, flow.client.synCount - 1))),
            ],
            explains: wait)
    }

    private func addWrongAnswer() {
        let flow = context.flow
        guard !flow.set.wrongAnswers.isEmpty, let answer = flow.set.wrongAnswer, !flow.isTranslated else { return }
        let hasRecovered = flow.handshakeEnd != nil
        if let reset = flow.set.foreignReset, hasRecovered, reset.isForeign(flow.server.hop) {
            addEarlyInjection(reset)
            if flow.set.wrongAnswers.total <= flow.set.foreignResetCount { return }
        }
        // A device that changes sequence numbers does not change the IP identification, so the right answer, captured at
        // the same time, is another copy of the wrong one.
        if let answer = flow.server.syn, flow.server.recent.translated.packets.contains(answer.packet) { return }
        add(
            .wrongSYNAnswer, hasRecovered ? .warning : .problem, .certain, .server, flow.set.wrongAnswers,
            "The server answered the SYN with \(answer)"
                + (hasRecovered
                    ? "; the connection was set up \(text(flow.handshakeEnd ?? 0)) after the first SYN." : "."),
            next:
                "check whether the client reuses a port whose old connection the server still knows (`ss -tan` on the server), and whether a NAT device or load balancer mixes up connections",
            numbers: [("answers", .integer(flow.set.wrongAnswers.total))], explains: context.duration)
    }

    /// Adds the finding `injected-reset` for a reset that answered the SYN and that the server did not send.
    private func addEarlyInjection(_ reset: EarlyReset) {
        let flow = context.flow
        let isOdd = reset.isOddlyNumbered(flow.server.hop)
        add(
            .injectedReset, .problem, isOdd ? .certain : .likely, .middlebox,
            Evidence(reset.packet, flow.server.syn?.packet ?? 0),
            "A reset with the server's address as its source answered the SYN, but was probably sent by another machine: its hop limit differs from that of the server's other packets\(isOdd ? ", its IP identification does not fit in" : ""), and the server continued the handshake.",
            next:
                "look for a firewall, an intrusion prevention system or a load balancer on the path that resets connections",
            rivals: ["a server that still knew an older connection"],
            numbers: [("at", .seconds(nanoseconds: reset.time))])
    }

    private func addICMP() {
        guard let icmp = context.flow.icmp else { return }
        let flow = context.flow
        let hasRecovered =
            flow.phase != .setUp
            && (flow.client.acknowledgedTime > icmp.time || flow.server.acknowledgedTime > icmp.time)
        if icmp.isTimeExceeded, flow.phase == .setUp, let syn = flow.client.syn, syn.isProbe {
            add(
                .icmpUnreachable, .note, .certain, .middlebox, Evidence(syn.packet, icmp.packet),
                "\(ByteText.count(icmp.count, "ICMP error")) reported that a SYN was not delivered: \(icmp.text). The SYN was sent with a TTL of \(syn.hopLimit), as `traceroute` does.",
                next: "nothing, if someone ran traceroute",
                numbers: [("errors", .integer(icmp.count))])
            return
        }
        add(
            .icmpUnreachable, hasRecovered ? .warning : .problem, .certain, .middlebox, Evidence(icmp.packet),
            "\(ByteText.count(icmp.count, "ICMP error")) reported that a packet of the \(icmp.side.word) was not delivered: \(icmp.text).",
            next: icmp.isTooBig
                ? "check the MTU of the path (`tracepath`), and that the \(icmp.side.word) reduces its segment size"
                : "check the route and the firewall at the machine that sent the ICMP error",
            numbers: [("errors", .integer(icmp.count))], explains: hasRecovered ? 0 : context.duration)
    }

    private func addRepeatedSYN() {
        let flow = context.flow
        guard flow.clock.isReliable else { return }
        let repeated = flow.set.repeatedAfterCompletion
        if !repeated.isEmpty {
            var evidence = repeated
            if let completion = flow.set.completion { evidence.add(completion.packet) }
            // Only a server that has accepted the connection sends anything but its SYN-ACK.
            let wasAccepted =
                flow.server.dataPacketCount > 0 || flow.client.acknowledged > 1 || flow.client.windows.count > 0
            let hasIgnoredData = flow.set.ignoredDataCount > 0
            let isProven = hasIgnoredData && context.isAt(.server)
            // A server that waits for the first data repeats its SYN-ACK only once, and often late.
            let isDeferred = !hasIgnoredData && (repeated.total == 1 || flow.set.firstRepeat > 3 * Time.second)
            add(
                .acceptQueueFull, isDeferred ? .note : wasAccepted ? .warning : .problem,
                isProven ? .certain : .likely, .server, evidence,
                "The server did not accept the connection at once: it repeated its SYN-ACK \(times(repeated.total)) after the client had acknowledged it.",
                next:
                    "check the accept queue of \(context.endpoint(.server)) (`ss -ltn` shows Recv-Q and Send-Q; `nstat -az TcpExtListenOverflows`), and how fast the program calls accept",
                rivals: (hasIgnoredData ? [] : ["a server that waits for the first data (TCP_DEFER_ACCEPT)"]) + [
                    "the client's ACK was lost on its way to the server"
                ],
                numbers: [("repeated-syn-acks", .integer(repeated.total))],
                explains: flow.server.lastSYNTime - (flow.client.syn?.time ?? 0))
            return
        }
        // A client repeats a SYN whose answer belongs to another connection, although the SYN arrived.
        guard flow.handshakeEnd != nil, flow.client.synCount > 1 || flow.server.synCount > 1,
            flow.set.wrongAnswers.isEmpty, flow.set.overcome == nil
        else { return }
        let isAnswer = flow.server.synCount > 1
        var evidence = flow.client.synPackets
        evidence.add(flow.server.synPackets)
        if !flow.server.repeatedSYNs.isEmpty {
            addUnnecessarySYN(evidence)
            if flow.server.repeatedSYNs.total >= flow.server.synCount - 1, flow.client.synCount == 1 { return }
        }
        // Each repeated SYN is answered, so a repeated SYN-ACK is not proof of a loss unless there are more of them. An
        // ACK that comes sooner than a round trip after the last SYN-ACK answers an earlier one. A client that supports
        // SACK reports if it receives a SYN-ACK twice; for other clients, only their ACK may have been lost.
        let answer = (flow.handshakeEnd ?? 0) - flow.server.lastSYNTime
        let isProven =
            flow.server.synCount > flow.client.synCount && flow.server.repeatedSYNs.isEmpty
            && flow.client.syn?.isSACKPermitted == true && flow.server.syn?.isSACKPermitted == true
            && flow.server.shortestDataDelay.map { answer >= $0 / 10 * 9 } ?? false
        let time = (flow.handshakeEnd ?? 0) - (flow.client.syn?.time ?? 0)
        add(
            .synLost, .warning, isProven ? .certain : .likely, isAnswer ? .pathToClient : .pathToServer, evidence,
            isAnswer
                ? "A packet of the handshake was lost on the way to the client: the server sent its SYN-ACK \(times(flow.server.synCount)), and the handshake took \(text(time))."
                : "A SYN was lost on the way to the server: the client sent it \(times(flow.client.synCount)), and the handshake took \(text(time)).",
            next: "look for losses on this path (`mtr`, interface counters), or capture on the other side",
            rivals: isAnswer
                ? ["an ACK that was lost on the way to the server", "a round trip longer than the server's timer"]
                : ["a full queue of incomplete connections at the server"],
            numbers: [
                ("syns", .integer(flow.client.synCount)), ("syn-acks", .integer(flow.server.synCount)),
                ("handshake", .seconds(nanoseconds: time)),
            ],
            explains: time)
    }

    /// Adds a finding about a SYN-ACK that the server repeated although the client had received it.
    private func addUnnecessarySYN(_ handshake: Evidence) {
        let server = context.flow.server
        var evidence = handshake
        evidence.add(server.repeatedSYNs)
        let time = (context.flow.handshakeEnd ?? 0) - (server.syn?.time ?? 0)
        add(
            .spuriousRetransmission, .note, .certain, .server, evidence,
            "The server repeated its SYN-ACK although the client had received it: the client's ACK arrived \(text(time)) after the first SYN-ACK.",
            next: "look for delays on the way to the client and back",
            numbers: [
                ("packets", .integer(server.repeatedSYNs.total)), ("answer-after", .seconds(nanoseconds: time)),
            ])
    }

    private func addSlowHandshake() {
        let flow = context.flow
        guard let end = flow.handshakeEnd, let syn = flow.client.syn, flow.client.synCount == 1,
            flow.server.synCount == 1, flow.clock.isReliable
        else { return }
        let answer = flow.server.syn?.time ?? end
        // The part of the handshake between the capture point and the server, and the same part of later round trips.
        let (own, laterOwn) = (answer - syn.time, flow.client.shortestDataDelay)
        // The client, not the server, is responsible for the time until its ACK, which may be missing from the capture.
        let time = own + min(flow.delay(to: .client), end - syn.time)
        // The handshake is compared with later round trips only, because delays in the handshake itself could hide that
        // later round trips are shorter. One half of a round trip can be compared only with the same half.
        let other = flow.server.shortestDataDelay
        let later = (laterOwn ?? own) + (laterOwn == nil ? 0 : other ?? 0)
        let compared = laterOwn != nil && other != nil ? time : own
        let isKnown = laterOwn != nil
        guard
            isKnown
                ? (compared > Time.second && compared > 2 * later)
                    || (compared > 200 * Time.millisecond && compared > 3 * later)
                : own > Time.second, flow.set.repeatedAfterCompletion.isEmpty, !isAcknowledgedOnTheWay(own)
        else { return }
        var evidence = flow.client.synPackets
        evidence.add(flow.server.synPackets)
        if let completion = flow.set.completion { evidence.add(completion.packet) }
        add(
            .slowHandshake, .warning, .likely, .server, evidence,
            "The handshake took \(text(time)), although no packet was repeated"
                + (isKnown && later < time ? "; later round trips took \(text(later))." : "."),
            next:
                "check the load of the server and of the devices in front of it that handle new connections (firewalls, load balancers, SYN proxies)",
            rivals: ["a long path", "a device that delays new connections"],
            numbers: [("handshake", .seconds(nanoseconds: time)), ("round-trip", .seconds(nanoseconds: later))],
            explains: time)
    }

    /// Whether a device on the way, such as the NAT of a virtual machine, seems to acknowledge data in the server's name.
    /// All of the server's answers then take as long as its SYN-ACK, so the path is long, and the round trips to the
    /// device don't show it. If the acknowledgments come very much sooner than anything that the server itself sends,
    /// the answers need not take quite as long.
    ///
    /// - Parameter wait: the time from the SYN to the SYN-ACK.
    private func isAcknowledgedOnTheWay(_ wait: Int64) -> Bool {
        let flow = context.flow
        var reactions = flow.server.answers.samples
        if reactions.isEmpty, let asked = flow.client.lastDataTime {
            let reset = flow.reset.flatMap { $0.isObeyed && $0.side == .server ? $0.time : nil }
            reactions = [flow.server.fin?.time, reset].compactMap(\.self).map { $0 - asked }.filter { $0 > 0 }
        }
        guard let shortest = reactions.min() else { return false }
        let isFarSlower = flow.client.shortestDataDelay.map { $0 <= shortest / 100 } ?? false
        return shortest >= (isFarSlower ? wait / 5 * 2 : wait / 4 * 3)
    }

    private func addOptions() {
        let flow = context.flow
        guard let own = flow.client.syn, let other = flow.server.syn else { return }
        if !own.hasWindowScale || !other.hasWindowScale {
            let side: ConversationSide = own.hasWindowScale ? .server : .client
            // The missing option matters only if the window is close to the maximum that is possible without the
            // option.
            let limited = ConversationSide.allCases.first {
                let windows = flow[$0].windows.samples
                return isWindowLimited($0) != nil && windows.count { $0.window > 48 << 10 } * 2 > windows.count
            }
            let time = limited.map { flow[$0].receiveWindowTime } ?? 0
            add(
                .noWindowScaling, limited == nil ? .note : .warning, .certain, FindingSide(side),
                Evidence(own.packet, other.packet),
                limited == nil
                    ? "The \(side.word) does not support window scaling, so windows are limited to 64 KiB."
                    : "The \(side.word) does not support window scaling, so the window is limited to 64 KiB; it limited the transfer for \(text(time)).",
                next:
                    "enable window scaling on the \(side.word) (`sysctl net.ipv4.tcp_window_scaling`), or remove the device that strips the option",
                numbers: [("limited", .seconds(nanoseconds: time))], explains: time)
        }
        if !own.isSACKPermitted || !other.isSACKPermitted {
            let side: ConversationSide = own.isSACKPermitted ? .server : .client
            add(
                .noSACK, .note, .certain, FindingSide(side), Evidence(own.packet, other.packet),
                "The \(side.word) does not support selective acknowledgments, so recovering from several losses takes longer.",
                next: "enable SACK on the \(side.word) (`sysctl net.ipv4.tcp_sack`)")
        }
        for side in ConversationSide.allCases {
            guard let syn = flow[side].syn, let size = syn.maximumSegmentSize else { continue }
            let minimum = context.client.address.family == .v6 ? 1220 : 536
            guard size < 1200 || size < minimum else { continue }
            add(
                .smallMSS, size < minimum ? .warning : .note, .certain, FindingSide(side), Evidence(syn.packet),
                "The \(side.word) announced a maximum segment size of \(size) bytes.",
                next:
                    "check the MTU of the \(side.word)'s interface, and the devices on the path that change the option (MSS clamping)",
                numbers: [("mss", .integer(size))])
        }
        if own.payloadLength > 0, !flow.set.isSYNDataAcknowledged {
            add(
                .fastOpenRejected, .note, .certain, .server, Evidence(own.packet, other.packet),
                "The server did not accept the \(count(own.payloadLength, "byte")) in the client's SYN (TCP Fast Open).",
                next:
                    "enable Fast Open on the server (`sysctl net.ipv4.tcp_fastopen`), or ignore this: the data is sent again",
                numbers: [("bytes", .integer(own.payloadLength))])
        }
    }

    private func times(_ number: Int) -> String { number == 1 ? "once" : number == 2 ? "twice" : "\(number) times" }
}
