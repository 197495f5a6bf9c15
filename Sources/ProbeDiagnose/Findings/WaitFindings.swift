import ProbeBase

/// Findings about applications that are slow or that send data inefficiently.
struct WaitFindings: FindingGroup {
    let list: FindingList

    func find() {
        addSlowServer()
        addSlowClient()
        addNoData()
        for side in ConversationSide.allCases {
            addNagle(sender: side)
            addTinygrams(sender: side)
            addUnfinished(sender: side)
        }
        addDrip()
        addMainState()
    }

    private func addSlowServer() {
        let flow = context.flow
        guard flow.clock.isReliable, let slowest = flow.server.slowestAnswer,
            let median = flow.server.answers.quantile(0.5), let high = flow.server.answers.quantile(0.99)
        else { return }
        let count = flow.server.answers.count
        let share = context.share(flow.budget[.serverThinks])
        let isSlow = (count >= 3 && median >= 500 * Time.millisecond) || slowest.wait >= 3 * Time.second
        let isVerySlow = slowest.wait >= 30 * Time.second
        guard isVerySlow || (isSlow && share >= 0.3), !isUnsolicited else { return }
        let waits =
            count == 1
            ? "it took \(text(slowest.wait)) to send its only answer"
            : median < slowest.wait / 100
                ? "the slowest of \(count) answers took \(text(slowest.wait))"
                : "the median of \(count) answers is \(text(median)), the 99th percentile \(text(high)), and the slowest took \(text(slowest.wait))"
        let isFramed = flow.server.isAnswerFramed
        // If the protocol is unknown, data after a very long time is more often an unsolicited message.
        // So is data after a single wait as long as a usual timer.
        let isSingle = !(count >= 3 && median >= 500 * Time.millisecond)
        let isTimer = isVerySlow || (median < slowest.wait / 10 && Self.isUsualTimeout(slowest.wait))
        let isIdle = !isFramed && isSingle && isTimer
        // A client may have asked the server to answer only when something happens.
        let isPoll = isFramed && flow.client.progress.kind == .http && Self.isUsualTimeout(slowest.wait)
        add(
            .slowServer, isIdle ? .note : isVerySlow && isFramed && !isPoll ? .problem : .warning,
            flow.server.isAnswerAcknowledged && isFramed && !isPoll ? .certain : .likely, .server,
            Evidence(slowest.request, slowest.answer), "The server was slow to answer: \(waits).",
            next:
                "look at what the program on \(context.endpoint(.server)) did at that time (its log, a profile, the services that it depends on)",
            rivals: ["requests that were delayed on their way to the program"]
                + (isFramed ? [] : ["a message that the server sent without a request"])
                + (isPoll ? ["a long poll, which the server answers late on purpose"] : []),
            numbers: [
                ("answers", .integer(count)), ("median", .seconds(nanoseconds: median)),
                ("p99", .seconds(nanoseconds: high)), ("slowest", .seconds(nanoseconds: slowest.wait)),
                ("share", .number(share)),
            ],
            explains: flow.budget[.serverThinks])
    }

    /// Whether the server's slowest answer may just as well be an unsolicited message.
    private var isUnsolicited: Bool {
        let (server, dialogue) = (context.flow.server, context.flow.dialogue)
        guard !server.isAnswerFramed else { return false }
        if dialogue.sendsUnsolicited(after: server.slowestAnswer?.wait ?? 0) { return true }
        // Without the beginning of a connection, only the data shows which side asks and which one answers.
        return !context.hasKnownRoles && (dialogue.beginsWithServer || isRegular)
    }

    /// Whether the server always takes the same time, as if a timer determined when it sends data.
    private var isRegular: Bool {
        let answers = context.flow.server.answers
        guard answers.count >= 3, let shortest = answers.samples.min(), let longest = answers.samples.max() else {
            return false
        }
        return shortest >= Time.second && longest - shortest <= longest / 10
    }

    /// Returns whether a program may have chosen the wait as the length of a timer.
    private static func isUsualTimeout(_ wait: Int64) -> Bool {
        [10, 15, 20, 25, 30, 45, 50, 55, 60, 90, 120, 180, 240, 300].contains {
            abs(wait - $0 * Time.second) <= $0 * Time.second / 50
        }
    }

    /// Adds a note about the state in which the flow spent nearly all of its time, unless a finding already says so.
    private func addMainState() {
        let flow = context.flow
        guard flow.clock.isReliable, flow.handshakeEnd != nil else { return }
        func add(
            _ id: FindingID, _ side: FindingSide, _ time: Int64, _ evidence: Evidence, _ sentence: String,
            next: String, rival: String
        ) {
            let share = context.share(time)
            guard time > Time.second, share > 0.8, !list.findings.contains(where: { $0.id == id }) else { return }
            self.add(
                id, .note, .likely, side, evidence, "\(sentence) \(text(time)), \(percent(share)) of the connection.",
                next: next, rivals: [rival],
                numbers: [("time", .seconds(nanoseconds: time)), ("share", .number(share))])
        }
        if let slowest = flow.server.slowestAnswer, !flow.dialogue.sendsUnsolicited(after: slowest.wait), !isUnsolicited
        {
            add(
                .slowServer, .server, flow.budget[.serverThinks], Evidence(slowest.request, slowest.answer),
                "The connection waited for the server's answers for",
                next: "look at what the program on \(context.endpoint(.server)) did at that time",
                rival: "messages that the server sent without a request")
        }
        // The client's data must follow the wait. A client that only closed the connection late delayed nothing.
        if flow.client.lastDataTime ?? 0 >= flow.budget[.clientThinks] {
            add(
                .slowClient, .client, flow.budget[.clientThinks], Evidence(flow.client.lastDataPacket),
                "The connection waited for the client's data for",
                next: "look at what the program on \(context.endpoint(.client)) did at that time",
                rival: "a client that had nothing to ask")
        }
        guard flow.roundTrip ?? 0 >= 200 * Time.millisecond, flow.client.synCount == 1, flow.server.synCount == 1 else {
            return
        }
        add(
            .slowHandshake, .pathToServer, flow.budget[.handshake] + flow.budget[.roundTrip], flow.client.synPackets,
            "The path is long: packets and their acknowledgments were on their way for",
            next: "look at the route (`mtr`), or let the program wait for fewer round trips",
            rival: "a queue on the path")
    }

    private func addSlowClient() {
        let flow = context.flow
        let client = flow.client
        let share = context.share(client.pauseTime)
        guard client.pauseCount >= 3, share >= 0.5, flow.clock.isReliable else { return }
        add(
            .slowClient, isTyped ? .note : .warning, .likely, .client, client.pauseEvidence,
            "The client was slow: it paused \(client.pauseCount) times for 500 ms or longer before it sent more (\(text(client.pauseTime)), \(percent(share)) of the connection).",
            next:
                "look at what the program on \(context.endpoint(.client)) does between the server's data and its next request",
            rivals: ["a user who types", "a client that waits for another connection"],
            numbers: [
                ("pauses", .integer(client.pauseCount)), ("paused", .seconds(nanoseconds: client.pauseTime)),
                ("share", .number(share)),
            ],
            explains: client.pauseTime)
    }

    /// Whether a person probably types what the client sends, as in a Telnet, SSH or FTP session.
    private var isTyped: Bool {
        let client = context.flow.client
        guard client.progress.kind != .http, client.progress.kind != .tls else { return false }
        return [21, 22, 23].contains(context.server.port) || (client.sizes.quantile(0.5) ?? .max) <= 16
    }

    private func addNoData() {
        let flow = context.flow
        guard let end = flow.handshakeEnd, flow.client.dataPacketCount + flow.server.dataPacketCount == 0,
            flow.client.syn != nil, flow.server.syn != nil, !context.isOneDirection, flow.clock.isReliable
        else { return }
        let isClosed = flow.phase == .closing || flow.reset != nil
        let time = isClosed ? context.duration - end : context.watched - end
        guard isClosed ? time >= 10 * Time.millisecond : time >= 5 * Time.second else { return }
        add(
            .noData, time >= 60 * Time.second ? .warning : .note, .certain, .client,
            Evidence(flow.set.completion?.packet ?? flow.firstPacket),
            "Nobody sent data on the connection \(isClosed ? "until it was closed" : "while it was watched") (\(text(time))).",
            next: "check whether the client opens connections in advance, or only tests whether the port is open",
            numbers: [("time", .seconds(nanoseconds: time))], explains: 0)
    }

    private func addNagle(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.nagleCount > 0, !sender.isNagleRefuted, context.flow.clock.isReliable else { return }
        let share = context.share(sender.nagleTime)
        let isNagle = sender.fullHeldCount * 2 <= sender.nagleCount
        let isSerious =
            sender.nagleCount >= (isNagle ? 3 : 5)
            || (isNagle && share >= 0.05 && sender.nagleTime >= 100 * Time.millisecond)
        add(
            .nagleDelayedAck, isSerious ? .warning : .note,
            sender.isNagleProven && context.isAt(side) ? .certain : .likely, FindingSide(side), sender.nagleEvidence,
            isNagle
                ? "The \(side.word) held back \(count(sender.nagleCount, "small segment")) until a delayed ACK arrived (Nagle's algorithm), which cost \(text(sender.nagleTime))."
                : "The \(side.word) stopped \(sender.nagleCount == 1 ? "once" : "\(sender.nagleCount) times") after a small segment until a delayed ACK arrived, which cost \(text(sender.nagleTime)).",
            next: isNagle
                ? "set TCP_NODELAY on the \(side.word)'s socket, or write each message with a single call (writev, or a buffer)"
                : "enlarge the \(side.word)'s send buffer (SO_SNDBUF), write larger pieces, or set TCP_NODELAY",
            rivals: isNagle
                ? ["an application that waits by itself"]
                : ["an application that waits by itself", "a send buffer that holds only one message"],
            numbers: [
                ("waits", .integer(sender.nagleCount)), ("time", .seconds(nanoseconds: sender.nagleTime)),
                ("share", .number(share)),
            ],
            explains: sender.nagleTime)
    }

    private func addTinygrams(sender side: ConversationSide) {
        let sender = context.flow[side]
        guard sender.rapidSmallCount >= 100, let median = sender.sizes.quantile(0.5), median < 100 else { return }
        add(
            .tinygrams, .note, .certain, FindingSide(side), Evidence(sender.lastDataPacket),
            "The \(side.word) sent \(count(sender.rapidSmallCount, "small segment")) in quick succession; the median of its segments is \(count(Int(median), "byte")).",
            next: "write larger pieces at a time, through a buffer",
            numbers: [("segments", .integer(sender.rapidSmallCount)), ("median", .integer(Int(median)))])
    }

    private func addUnfinished(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard sender.progress.isIncomplete, let last = sender.lastDataTime, !(sender.drip?.isSlow ?? false),
            flow.clock.isReliable, sender.outstanding == 0 || !context.isAt(side)
        else { return }
        let end = sender.fin?.time ?? (flow.reset?.isObeyed == true ? flow.reset?.time : nil) ?? context.watched
        let wait = end - last
        guard wait >= 2 * Time.second else { return }
        let isHead = sender.progress.kind == .http && sender.progress.http.missing == nil
        let message =
            sender.progress.kind == .tls
            ? "a TLS record" : side == .client ? "an HTTP request" : "an HTTP response"
        let missing =
            sender.progress.http.missing.map {
                ": \(size(Int($0))) that its header announces \($0 == 1 ? "is" : "are") missing"
            } ?? ""
        add(
            .requestUnfinished, .warning, isHead ? .likely : .certain, FindingSide(side),
            Evidence(sender.lastDataPacket),
            "The \(side.word) stopped in the middle of \(message)\(missing); nothing followed for \(text(wait)).",
            next: "find out why the program on \(context.endpoint(side)) did not send the rest",
            rivals: ["data that only looks like this protocol"],
            numbers: [("silence", .seconds(nanoseconds: wait))], explains: wait)
    }

    private func addDrip() {
        let flow = context.flow
        guard let drip = flow.client.worstDrip ?? flow.client.drip, drip.segments >= 5, flow.clock.isReliable else {
            return
        }
        let end = flow.client.worstDrip == nil ? flow.endOfData ?? context.duration : drip.last
        let time = end - drip.since
        guard time >= 10 * Time.second else { return }
        let rate = Double(drip.bytes) / (Double(time) / 1e9)
        guard rate < 50 else { return }
        add(
            .slowDrip, .warning, .certain, .client, Evidence(drip.firstPacket, drip.lastPacket),
            "The client sent a request very slowly: \(count(drip.bytes, "byte")) in \(count(drip.segments, "segment")) over \(text(time)) (\(DurationText.fixed(rate, digits: 1)) B/s).",
            next: "limit the time that the server waits for a request, as protection against slow clients",
            numbers: [
                ("bytes", .integer(drip.bytes)), ("segments", .integer(drip.segments)),
                ("time", .seconds(nanoseconds: time)), ("bytes-per-second", .number((rate * 10).rounded() / 10)),
            ],
            explains: time)
    }
}
