import ProbeBase

/// Findings about TLS.
struct TLSFindings: FindingGroup {
    let list: FindingList

    func find() {
        for side in ConversationSide.allCases { addAlert(sender: side) }
        addStalledHandshake()
        for side in ConversationSide.allCases { addTruncation(sender: side) }
    }

    private func addAlert(sender side: ConversationSide) {
        let flow = context.flow
        guard let alert = flow[side].progress.tls.alert, flow[side].progress.tls.recordCount > 0 else { return }
        let (own, other) = (flow[side].progress, flow[side.opposite].progress)
        let isSetUp =
            own.tls.hasApplicationData || other.tls.hasApplicationData || other.kind != .tls
            || (own.tls.hasFinished && other.tls.hasFinished)
        guard let content = alert.content else {
            // Once the handshake is complete, an encrypted alert is nearly always `close_notify`.
            if isSetUp {
                guard side == .server, let packet = flow.answeringAlert, !isOrderlyEnd(of: alert) else { return }
                add(
                    .tlsAlert, .problem, .likely, .server, Evidence(flow.client.lastDataPacket, packet),
                    "The server answered the client's data with an encrypted TLS alert, and nothing else.",
                    next:
                        "read the log of the server, or decrypt the capture (`tcpprobe inspect --follow N --decrypt`)",
                    rivals: ["a server that closes the connection with `close_notify` instead of answering"])
                return
            }
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

    /// Whether the server's encrypted alert only announces the end of the connection: the server had sent application data
    /// before, closes at once, and the client does not object.
    private func isOrderlyEnd(of alert: TLSProgress.Alert) -> Bool {
        let (client, server) = (context.flow.client, context.flow.server)
        guard server.progress.tls.hasApplicationData, let fin = server.fin, let last = server.lastDataTime,
            alert.packet == server.lastDataPacket, fin.time - last <= 100 * Time.millisecond
        else { return false }
        return context.flow.reset == nil && client.lastDataTime ?? 0 < last
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

    private func addStalledHandshake() {
        let flow = context.flow
        let (own, other) = (flow.client.progress, flow.server.progress)
        guard own.tls.hasHello, flow.clock.isReliable, own.tls.alert == nil, other.tls.alert == nil else { return }
        let last = max(flow.client.lastDataTime ?? 0, flow.server.lastDataTime ?? 0)
        let silence = TLSProgress.isHandshaking(own, other) ? (flow.endOfData ?? context.watched) - last : 0
        if let stall = flow.tlsStall, stall.wait >= silence {
            // The handshake went on after the stall.
            addStall(
                stall.side, stall.wait, Evidence(stall.request, stall.packet),
                isEnded: stall.wait < 10 * Time.second)
            return
        }
        guard silence >= 2 * Time.second else { return }
        let sender: ConversationSide =
            (flow.client.lastDataTime ?? 0) >= (flow.server.lastDataTime ?? -1) ? .client : .server
        // The peer waits for the rest of an incomplete record.
        let side = flow[sender].progress.tls.isInsideRecord ? sender : sender.opposite
        addStall(side, silence, Evidence(flow[sender].lastDataPacket), isEnded: false)
    }

    private func addStall(_ side: ConversationSide, _ wait: Int64, _ evidence: Evidence, isEnded: Bool) {
        let isInside = !isEnded && context.flow[side].progress.tls.isInsideRecord
        let isProven = context.flow[side.opposite].outstanding == 0 && !isInside
        add(
            .tlsHandshakeStalled, isEnded ? .warning : .problem, isProven ? .certain : .likely, FindingSide(side),
            evidence,
            "The TLS handshake stalled: the \(side.word) did not send \(isInside ? "the rest of a record" : "the next record") for \(text(wait)).",
            next:
                "find out what the program on \(context.endpoint(side)) is waiting for (a key server, a certificate check, a stack dump)",
            rivals: ["a lost packet that the capture doesn't show"],
            numbers: [("wait", .seconds(nanoseconds: wait))], explains: wait)
    }

    private func addTruncation(sender side: ConversationSide) {
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
}
