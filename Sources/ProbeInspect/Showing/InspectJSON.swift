package import ProbeBase
import ProbeReport
package import ProbeWire
import ProbeEvents

/// The output of `inspect --json`: one JSON object per line, each with `version` and `type`. `docs/inspect.md`
/// documents all objects.
package enum InspectJSON {
    package static func line(_ type: String, _ members: [JSONValue.Member]) -> String {
        let head: [JSONValue.Member] = [("version", .integer(1)), ("type", .string(type))]
        return String(decoding: JSONValue.object(head + members).encoded(), as: UTF8.self) + "\n"
    }

    /// Returns the JSON object for a flow.
    ///
    /// - Parameter timing: the timing of the flow; if it was not measured (`nil`), its members are omitted.
    package static func flow(_ report: ConnectionReport, timing: ConnectionTiming? = nil, file: String) -> String {
        let conversation = report.conversation
        return line(
            "flow",
            [
                ("file", .string(file)), ("flow", .integer(report.number)),
                ("client", endpoint(conversation.client)), ("server", endpoint(conversation.server)),
                ("start", time(conversation.firstTime ?? 0)), ("duration", .integer(Int(report.duration))),
                ("packets", .integer(conversation.packetCount)),
                ("handshake", .string(report.handshake.rawValue)),
                ("rtt", conversation.handshakeRoundTrip.map { .integer(Int($0)) } ?? .null),
                ("closes", .array(report.closes.map(close))),
                ("fromClient", direction(conversation.fromClient)),
                ("fromServer", direction(conversation.fromServer)),
                ("anomalies", .object(report.anomalies.map { ($0.id, .integer($0.count)) })),
            ] + (timing.map(members) ?? []))
    }

    private static func members(of timing: ConnectionTiming) -> [JSONValue.Member] {
        let pause = timing.longestPause.map { pause -> JSONValue in
            .object([("duration", .integer(Int(pause.duration))), ("silent", .string(pause.silent.word))])
        }
        return [
            ("firstByte", timing.firstByte.map { .integer(Int($0)) } ?? .null), ("longestPause", pause ?? .null),
            (
                "lastHeard",
                .object(ConversationSide.allCases.map { ($0.word, timing.lastHeard($0).map(time) ?? .null) })
            ),
        ]
    }

    package static func packet(
        _ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation, file: String
    ) -> String {
        let summary = packet.summary
        var members: [JSONValue.Member] = [
            ("file", .string(file)), ("flow", .integer(conversation.number)),
            ("packet", .integer(summary.packetIndex + 1)), ("time", time(summary.time)),
            ("from", .string(summary.side.word)), ("flags", .string(summary.flags.description)),
            ("sequence", .integer(Int(summary.relativeSequence))),
        ]
        if let acknowledgment = summary.relativeAcknowledgment {
            members.append(("acknowledgment", .integer(Int(acknowledgment))))
        }
        members += [
            ("window", .integer(summary.window)), ("windowScaled", .boolean(packet.isWindowScaled)),
            ("length", .integer(summary.payloadLength)),
            ("payload", .string(text(payload))), ("base64", .string(base64(payload))),
            ("marks", .array((summary.marks + (packet.isWindowFull ? ["window full"] : [])).map { .string($0) })),
            ("comments", .array(packet.comments.map { .string($0) })),
        ]
        if !packet.sacks.isEmpty {
            members.append(
                (
                    "sacks",
                    .array(
                        packet.sacks.map { .array([.integer(Int($0.lowerBound)), .integer(Int($0.upperBound))]) })
                ))
        }
        return line("packet", members)
    }

    package static func icmp(
        _ report: ICMPErrors.Report, comments: [String], in conversation: Conversation, file: String
    ) -> String {
        line(
            "icmp",
            [
                ("file", .string(file)), ("flow", .integer(conversation.number)),
                ("packet", .integer(report.packetIndex + 1)), ("time", time(report.time)),
                ("from", .string("\(report.error.reporter)")), ("to", .string(report.side.word)),
                ("error", .string(report.error.text)),
                ("sequence", report.relativeSequence.map { .integer(Int($0)) } ?? .null),
                ("comments", .array(comments.map { .string($0) })),
            ])
    }

    package static func part(
        _ part: StreamPart, from side: ConversationSide, in conversation: Conversation, at time: UInt64, file: String
    ) -> String {
        var members = place(conversation, side, file)
        switch part.content {
        case .gap(let gap): return self.gap(gap, members)
        case .bytes(let bytes):
            members += [
                ("offset", .integer(Int(part.offset))), ("length", .integer(bytes.count)),
                ("time", self.time(time)), ("bytes", .string(text(bytes.span))),
                ("base64", .string(base64(bytes.span))),
            ]
            return line("data", members)
        }
    }

    package static func message(
        _ event: MessageScan.Event, from side: ConversationSide, in conversation: Conversation, file: String,
        protobuf: (ProtobufText, Framing)? = nil
    ) -> String {
        var members = place(conversation, side, file)
        switch event {
        case .gap(let gap): return self.gap(gap, members)
        case .unreadable(let offset, let reason):
            return line("unreadable", members + [("offset", .integer(Int(offset))), ("reason", .string(reason))])
        case .message(let message):
            members += [
                ("message", .integer(message.number)), ("offset", .integer(Int(message.offset))),
                ("length", .integer(message.bytes.count)),
                ("cuts", .array(message.cuts.map { .integer($0) })),
                ("terminatorLength", .integer(message.terminatorLength)),
                ("bareTerminators", .integer(message.bareCount)), ("finished", .boolean(message.isFinished)),
                ("bytes", .string(text(message.bytes.span))), ("base64", .string(base64(message.bytes.span))),
            ]
            if let frame = message.frame { members += self.frame(frame) }
            if let (text, framing) = protobuf {
                let body = MessageScan.body(of: message, framing)
                let lines = body.map { text.lines(of: Array($0), in: 0..<$0.count) } ?? []
                members.append(("protobuf", .array(lines.map { .string($0) })))
            }
            return line("message", members)
        }
    }

    package static func summary(_ inspection: Inspection, file: String) -> String {
        var members: [JSONValue.Member] = [
            ("file", .string(file)), ("packets", .integer(inspection.packetCount)),
            ("excluded", .integer(inspection.excludedCount)),
            ("tcpPackets", .integer(inspection.analysis.tcpPacketCount)),
            ("undecodable", .integer(inspection.analysis.undecodableCount)),
            ("unread", .integer(inspection.analysis.others.unreadCount + inspection.analysis.others.hiddenCount)),
            ("others", .array(inspection.analysis.others.all.map(other))),
            ("flows", .integer(inspection.analysis.table.conversations.count)),
            ("unfollowed", .integer(inspection.analysis.unfollowedCount)),
            ("memoryUsedUp", .boolean(inspection.analysis.table.hasUsedUpMemory)),
            ("dropped", .integer(Int(clamping: inspection.dropped))),
            ("complete", .boolean(inspection.problem == nil)),
        ]
        if let problem = inspection.problem {
            members.append(("error", .string(problem.description)))
            if let offset = problem.offset { members.append(("errorOffset", .integer(Int(clamping: offset)))) }
        }
        return line("summary", members)
    }

    // MARK: Parts

    private static func frame(_ frame: WebSocketFrame) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            ("opcode", .integer(Int(frame.opcode))), ("fin", .boolean(frame.isFinal)),
            ("rsv", .integer(Int(frame.reserved))), ("masked", .boolean(frame.key != nil)),
        ]
        if let code = frame.closeCode { members.append(("closeCode", .integer(Int(code)))) }
        members += [
            ("payload", .string(text(frame.payload.span))), ("payloadBase64", .string(base64(frame.payload.span))),
        ]
        return members
    }

    private static func other(_ packet: OtherPacket, _ count: Int) -> JSONValue {
        .object([
            ("what", .string(packet.text)), ("packets", .integer(count)),
            ("read", .boolean(!packet.isUnread && !packet.isHidden)),
        ])
    }

    private static func place(
        _ conversation: Conversation, _ side: ConversationSide, _ file: String
    ) -> [JSONValue.Member] {
        [("file", .string(file)), ("flow", .integer(conversation.number)), ("from", .string(side.word))]
    }

    private static func gap(_ gap: StreamGap, _ members: [JSONValue.Member]) -> String {
        line(
            "gap",
            members + [
                ("offset", .integer(Int(gap.offset))), ("length", .integer(Int(gap.length))),
                ("cause", .string(cause(gap.cause))),
            ])
    }

    private static func cause(_ cause: StreamGap.Cause) -> String {
        switch cause {
        case .notCaptured: "not-captured"
        case .cutShort: "cut-short"
        case .limitReached: "limit-reached"
        }
    }

    private static func endpoint(_ endpoint: SocketEndpoint) -> JSONValue {
        .object([("address", .string("\(endpoint.address)")), ("port", .integer(Int(endpoint.port)))])
    }

    private static func close(_ close: ConnectionReport.Close) -> JSONValue {
        .object([
            ("by", .string(close.side.word)), ("with", .string(close.isReset ? "RST" : "FIN")),
            ("packet", .integer(close.packetIndex + 1)), ("time", time(close.time)),
        ])
    }

    private static func direction(_ flow: HalfConnection) -> JSONValue {
        let lines = flow.stream.lines
        return .object([
            ("packets", .integer(flow.packetCount)), ("bytes", .integer(Int(flow.stream.deliveredLength))),
            ("sent", .integer(Int(flow.sentLength))),
            ("payload", .integer(Int(flow.payloadLength))), ("segments", .integer(flow.segmentCount)),
            ("largestSegment", .integer(flow.largestSegment)),
            ("retransmissions", .integer(flow.retransmissionCount)),
            ("smallestWindow", flow.window.smallest.map { .integer($0) } ?? .null),
            ("largestWindow", flow.window.largest.map { .integer($0) } ?? .null),
            ("gaps", .array(flow.stream.gaps.map(gapValue))),
            (
                "lines",
                .object([
                    ("crlf", .integer(lines.crlfCount)), ("bareLF", .integer(lines.bareLFCount)),
                    ("bareCR", .integer(lines.bareCRCount)),
                ])
            ),
        ])
    }

    private static func gapValue(_ gap: StreamGap) -> JSONValue {
        .object([
            ("offset", .integer(Int(gap.offset))), ("length", .integer(Int(gap.length))),
            ("cause", .string(cause(gap.cause))),
        ])
    }

    private static func time(_ nanoseconds: UInt64) -> JSONValue { .integer(Int(clamping: nanoseconds)) }

    private static func base64(_ bytes: Span<UInt8>) -> String { Base64.encode(bytes.array) }

    /// Returns bytes in a script's notation, without quotes. The bytes can be recovered from the text.
    private static func text(_ bytes: Span<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 16)
        for index in bytes.indices { Escaped.append(bytes[index], to: &text) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Writes packets or the parts of streams as JSON.
package final class JSONObserver: InspectionObserver {
    package enum Content: Sendable { case packets, parts }

    private let content: Content
    private let file: String
    private let output: TextOutput
    private var now: UInt64 = 0

    package init(_ content: Content, file: String, output: @escaping TextOutput) {
        self.content = content
        self.file = file
        self.output = output
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        now = packet.summary.time
        guard content == .packets else { return }
        output(InspectJSON.packet(packet, payload: payload, in: conversation, file: file))
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        guard content == .parts else { return }
        output(InspectJSON.part(part, from: side, in: conversation, at: now, file: file))
    }

    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        guard content == .packets else { return }
        output(InspectJSON.icmp(report, comments: comments, in: conversation, file: file))
    }

    package func end(of conversation: Conversation) {}
}
