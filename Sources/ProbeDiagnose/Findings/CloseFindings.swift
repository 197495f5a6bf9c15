import ProbeBase

/// Findings about TLS, and about how the connection ended.
extension FindingList {
    mutating func addTLS() {
        for side in ConversationSide.allCases { addAlert(sender: side) }
        addStalledHandshake()
        for side in ConversationSide.allCases { addTruncation(sender: side) }
    }

    private mutating func addAlert(sender side: ConversationSide) {
        let flow = context.flow
        guard let alert = flow[side].progress.tls.alert, flow[side].progress.tls.recordCount > 0 else { return }
        let isSetUp = flow.client.progress.tls.hasApplicationData && flow.server.progress.tls.hasApplicationData
        guard let content = alert.content else {
            // Once the handshake is complete, an encrypted alert is nearly always `close_notify`.
            guard !isSetUp else { return }
            add(
                .tlsAlert, .problem, .likely, FindingSide(side), Evidence(alert.packet),
                "The \(side.word) ended the TLS handshake with an encrypted alert.",
                next:
                    "read the log of the \(side.word), or decrypt the capture (`tcpprobe inspect --follow N --decrypt`)",
                rivals: ["a `close_notify` alert before any data was sent"])
            return
        }
        guard content.description != 0 else { return }
        let name = TLSProgress.name(content.description)
        if content.description == 70 {
            add(
                .tlsVersionMismatch, .problem, .certain, FindingSide(side), Evidence(alert.packet),
                "The client and the server have no TLS version in common: the \(side.word) sent the alert \(name).",
                next: "compare the versions that both sides allow, and upgrade the older side",
                numbers: [("alert", .integer(Int(content.description)))], explains: context.duration)
            return
        }
        add(
            .tlsAlert, content.isFatal ? .problem : .note, .certain, FindingSide(side), Evidence(alert.packet),
            "The \(side.word) sent the \(content.isFatal ? "fatal" : "warning") TLS alert \(name) (\(content.description)).",
            next: Self.advice(content.description, side),
            numbers: [("alert", .integer(Int(content.description)))], explains: content.isFatal ? context.duration : 0)
    }

    private static func advice(_ alert: UInt8, _ side: ConversationSide) -> String {
        switch alert {
        case 42...46, 48:
            "check the certificate that the \(side.opposite.word) presented, its chain, its dates and its names"
        case 112: "check the server name that the client asks for (SNI)"
        case 116: "check that the client presents a certificate"
        case 120: "compare the protocols that both sides offer (ALPN)"
        case 40, 71: "compare the cipher suites, groups and signature algorithms that both sides allow"
        default: "read the log of the \(side.word) for the reason of the alert"
        }
    }

    private mutating func addStalledHandshake() {
        let flow = context.flow
        let (own, other) = (flow.client.progress, flow.server.progress)
        guard own.kind == .tls, own.tls.hasHello, flow.clockSteps.isEmpty, own.tls.alert == nil, other.tls.alert == nil
        else { return }
        if let stall = flow.tlsStall {
            addStall(stall.side, stall.wait, Evidence(stall.request, stall.packet))
            return
        }
        let isComplete = own.tls.hasApplicationData || (own.tls.hasFinished && other.tls.hasFinished)
        guard !isComplete, other.kind == .tls || other.kind == .undecided else { return }
        let side: ConversationSide =
            (flow.client.lastDataTime ?? 0) >= (flow.server.lastDataTime ?? -1) ? .server : .client
        let last = max(flow.client.lastDataTime ?? 0, flow.server.lastDataTime ?? 0)
        let end = flow.endOfData ?? context.watched
        guard end - last >= 2 * Time.second else { return }
        addStall(side, end - last, Evidence(flow[side.opposite].lastDataPacket))
    }

    private mutating func addStall(_ side: ConversationSide, _ wait: Int64, _ evidence: Evidence) {
        let isProven = context.flow[side.opposite].outstanding == 0
        add(
            .tlsHandshakeStalled, .problem, isProven ? .certain : .likely, FindingSide(side), evidence,
            "The TLS handshake stalled: the \(side.word) did not send the next record for \(text(wait)).",
            next:
                "find out what the program on \(context.endpoint(side)) is waiting for (a key server, a certificate check, a stack dump)",
            rivals: ["a lost packet that the capture doesn't show"],
            numbers: [("wait", .seconds(nanoseconds: wait))], explains: wait)
    }

    private mutating func addTruncation(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard let fin = sender.fin, sender.progress.kind == .tls, sender.progress.tls.recordCount > 0,
            !context.hasCaptureLosses
        else { return }
        if sender.progress.tls.isInsideRecord {
            add(
                .truncatedTLS, .problem, .certain, FindingSide(side), Evidence(sender.lastDataPacket, fin.packet),
                "The \(side.word) closed the connection in the middle of a TLS record, so data is missing.",
                next:
                    "find out why the program on \(context.endpoint(side)) closed early; the \(side.opposite.word) must treat the data as truncated (RFC 8446, section 6.1)",
                explains: 0)
        } else if !sender.progress.tls.mayHaveCloseNotify, flow.client.progress.tls.hasApplicationData {
            add(
                .truncatedTLS, .note, .certain, FindingSide(side), Evidence(sender.lastDataPacket, fin.packet),
                "The \(side.word) closed the connection without the TLS alert close_notify, so an attacker could cut off data unnoticed.",
                next: "make the \(side.word) send close_notify before it closes (RFC 8446, section 6.1)")
        }
    }

    mutating func addClose() {
        addReset()
        for side in ConversationSide.allCases {
            addDataLost(sender: side)
        }
        addHalfClosed()
    }

    private mutating func addReset() {
        let flow = context.flow
        guard let reset = flow.reset else { return }
        let side = reset.side
        var goesOn = !reset.laterPackets.isEmpty
        if !reset.isObeyed { goesOn = goesOn || reset.isForeign }
        if reset.isForeign || goesOn {
            var evidence = Evidence(reset.packet)
            evidence.add(reset.laterPackets)
            let reasons = [
                reset.isForeign ? "its hop limit differs from that of the \(side.word)'s other packets" : nil,
                reset.isOddlyNumbered ? "its IP identification does not fit in" : nil,
                goesOn
                    ? "the \(side.word) sent \(ByteText.count(reset.laterPackets.packets.count, "packet")) after it"
                    : nil,
            ].compactMap(\.self)
            let isProven = goesOn && reset.isForeign && reset.isOddlyNumbered
            add(
                .injectedReset, .problem, isProven ? .certain : .likely, .middlebox, evidence,
                "A reset in the name of the \(side.word) was probably sent by another machine: \(reasons.joined(separator: ", and ")).",
                next:
                    "look for a firewall, an intrusion prevention system or a load balancer on the path that resets connections",
                rivals: ["a \(side.word) that reset the connection and went on"],
                numbers: [("at", .seconds(nanoseconds: reset.time))], explains: 0)
        }
        guard reset.isObeyed, flow.set.refusal == nil else { return }
        addObeyed(reset)
    }

    private mutating func addObeyed(_ reset: ResetObservation) {
        let side = reset.side
        let peer = side.opposite
        let outstanding = reset.ownOutstanding + reset.peerOutstanding
        let severity: FindingSeverity =
            outstanding > 0 && !(reset.hasOwnFIN && reset.hasPeerFIN) || reset.isInsideMessage
            ? .problem
            : (reset.hasOwnFIN && reset.hasPeerFIN) || reset.hasPeerFIN ? .note : .warning
        let (reason, explanation) = reason(of: reset)
        let lost =
            outstanding > 0
            ? "; \(size(Int(outstanding))) of data \(outstanding == 1 ? "was" : "were") not acknowledged" : ""
        add(
            side == .client ? .resetByClient : .resetByServer, severity, .certain, FindingSide(side),
            Evidence(reset.cause, reset.packet),
            "The \(side.word) reset the connection after \(seconds(reset.time)): \(explanation)\(lost).",
            next:
                "look at why the program on \(context.endpoint(side)) ended the connection this way (its log, timeouts, crashes)",
            numbers: [
                ("reason", .string(reason)),
                ("reason-certainty", .string(reason == "data-after-close" ? "certain" : "likely")),
                ("at", .seconds(nanoseconds: reset.time)), ("unacknowledged", .integer(Int(outstanding))),
                ("silence", .seconds(nanoseconds: reset.silence)),
            ],
            explains: 0)
        _ = peer
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
            if abs(reset.silence - expected) * 50 <= expected {
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

    private mutating func addDataLost(sender side: ConversationSide) {
        let flow = context.flow
        let sender = flow[side]
        guard let fin = sender.fin else { return }
        let time = flow.reset?.isObeyed == true ? flow.reset?.time ?? context.duration : context.watched
        let bytes = fin.position - max(sender.acknowledged, 1)
        guard bytes > 0, time - fin.time >= 0 else { return }
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

    private mutating func addHalfClosed() {
        let flow = context.flow
        guard flow.clockSteps.isEmpty else { return }
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
            add(
                .halfClosed, wait >= 60 * Time.second ? .problem : .warning, .certain, FindingSide(other),
                Evidence(flow[side].fin?.packet ?? 0, closed.packet),
                "The \(side.word) closed its side, and the \(other.word) \(isOpen ? "has not closed" : "did not close") its own for \(text(wait)).",
                next:
                    "check whether the program on \(context.endpoint(other)) notices the end of the stream and closes its socket (CLOSE_WAIT in `ss -tan`)",
                numbers: [("wait", .seconds(nanoseconds: wait))], explains: wait)
        }
    }

    // MARK: The capture

    mutating func addCapture() {
        let flow = context.flow
        if context.hasCaptureLosses {
            var evidence = Evidence()
            for hole in flow.client.holes + flow.server.holes where hole.isAcknowledged { evidence.add(hole.packet) }
            add(
                .captureDroppedPackets, .warning, .certain, .capture, evidence,
                "The capture is incomplete: \(size(Int(context.missingBytes))) that were acknowledged are not in it.",
                next:
                    "capture again with a larger buffer (`-B`), a filter or a smaller snapshot length, or on a faster disk",
                numbers: [("bytes", .integer(Int(context.missingBytes)))])
        }
        if context.isOneDirection {
            let seen: ConversationSide = flow.client.packetCount > 0 ? .client : .server
            add(
                .oneDirection, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture contains only the packets of the \(seen.word).",
                next:
                    "capture at a place that both directions pass; the path may be asymmetric, or the filter too narrow"
            )
        }
        if flow.cutCount > 0 {
            add(
                .snapLength, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture contains only the beginning of \(count(flow.cutCount, "packet")).",
                next: "capture with `-s 0` if the contents matter", numbers: [("packets", .integer(flow.cutCount))])
        }
        if flow.client.syn == nil, flow.server.syn == nil {
            add(
                .startsInTheMiddle, .note, .certain, .capture, Evidence(flow.firstPacket),
                "The capture does not contain the beginning of the connection, so window scaling and the roles of the two sides are not certain.",
                next: "start the capture before the connection")
        }
        for side in ConversationSide.allCases where flow[side].hasOffload {
            add(
                .offload, .note, .certain, .capture, Evidence(flow[side].lastDataPacket),
                "The \(side.word)'s packets were captured before segmentation (up to \(size(flow[side].largestPayload))), so the sizes on the wire are smaller.",
                next: "turn off TSO, GSO and GRO (`ethtool -K`) or capture elsewhere if the sizes matter",
                numbers: [("largest", .integer(flow[side].largestPayload))])
            break
        }
        if !flow.clockSteps.isEmpty {
            add(
                .clockStepped, .warning, flow.isClockStepProven ? .certain : .likely, .capture, flow.clockSteps,
                "The clock of the capture was changed \(flow.clockSteps.packets.count == 1 ? "once" : "\(flow.clockSteps.packets.count) times"), so times are not reliable.",
                next: "capture again with a clock that is not set meanwhile; ignore times across the step",
                rivals: ["packets that were stored in another order than they arrived"],
                numbers: [("steps", .integer(flow.clockSteps.packets.count))])
        }
    }
}
