import ArgumentParser
import ProbeBase
import ProbeExplore
import ProbeInspect
import ProbeWire

/// The recording of one flow from a capture.
struct FlowRecording {
    let conversation: RecordedConversation
    /// The server's address in the notation of scripts.
    let server: String

    /// Records a flow.
    ///
    /// - Parameters:
    ///   - keyLog: the path of a file with TLS secrets, in addition to the secrets in the capture.
    ///   - limit: the maximum number of bytes to keep; see ``RecordedConversation``.
    /// - Throws: the exit code, after printing the reason.
    static func of(_ flow: Int, in path: String, keyLog: String?, limit: Int) throws -> FlowRecording {
        // The observer keeps more than the limit, so that it can recognize a ClientHello that begins near the limit.
        let observer = FlowRecorder(limit: limit + 1024)
        let inspection: Inspection
        let isRegular: Bool
        do throws(CaptureSourceError) {
            let source = try CaptureSource(path: path)
            isRegular = source.isRegular
            inspection = Inspection.of(
                source, limits: .deliveringParts, filter: ConnectionFilter(number: flow),
                observer: observer)
        } catch {
            throw Failure.invalidUsage("\(Escaped.text(path)): \(error)")
        }
        let name = Escaped.text(path)
        if let problem = inspection.problem {
            let advice =
                problem.isInvalidUsage
                ? "" : "\n  hint: use `tcpprobe inspect` to see what can be read, and capture the whole exchange again"
            Console.standardError.write("error: \(name): \(problem)\(advice)\n")
            throw ExitCode(problem.isInvalidUsage ? 2 : 3)
        }
        let conversations = inspection.analysis.table.conversations
        guard flow >= 0, flow < conversations.count else {
            throw Failure.invalidUsage(
                "\(name): there is no flow \(flow): the file has \(ByteText.count(conversations.count, "flow")); `tcpprobe inspect` lists them"
            )
        }
        try requireWhole(conversations[flow], "\(name): flow \(flow)")
        var conversation = RecordedConversation(limit: limit)
        if observer.conversation.firstTLSTurn != nil {
            let decryption = FlowDecryption(
                path: path, flow: flow, keyLog: keyLog, isRegular: isRegular, client: conversations[flow].client,
                server: conversations[flow].server)
            conversation = try decryption.decrypted(observer, keysInCapture: inspection.keyLog, limit: limit)
        } else {
            for turn in observer.conversation.turns { conversation.add(turn.event, from: turn.side, at: turn.time) }
            if keyLog != nil {
                Console.standardError.write("note: flow \(flow) does not use TLS, so --keylog is not needed\n")
            }
        }
        if ConversationSide.allCases.allSatisfy({ !conversation.hasEnded($0) }) { conversation.cut() }
        return FlowRecording(
            conversation: conversation, server: "\(conversations[flow].endpoint(of: .server))")
    }
}

extension FlowRecording {
    /// Checks that every byte of the flow, beginning with the SYN, was captured.
    private static func requireWhole(_ conversation: Conversation, _ name: String) throws {
        for (half, side) in [(conversation.fromClient, "client"), (conversation.fromServer, "server")] {
            let isSilent = conversation.fromClient.segmentCount + conversation.fromServer.segmentCount == 0
            if half.initialSequence == nil, !isSilent {
                throw Failure.machine(
                    "\(name) has no SYN from the \(side): the capture began later than the connection, so the first data may be missing; capture the connection again from its beginning"
                )
            }
            if let gap = half.missing {
                throw Failure.machine(
                    "\(name) has a gap: it lacks \(ByteText.count(Int(clamping: gap.length), "byte")) from the \(side) at offset \(gap.offset); capture the whole connection again"
                )
            }
        }
    }
}

/// Collects the turns of a flow. A FIN is recorded after the data in the same packet.
final class FlowRecorder: InspectionObserver {
    struct End {
        var event: RecordedConversation.Event
        var side: ConversationSide
        /// The number (counted from 1) of the packet that ended the side's stream.
        var frame: Int
        /// The time of the packet, in nanoseconds since 1970.
        var time: UInt64
    }

    private(set) var conversation: RecordedConversation
    /// The first FIN or RST of each side.
    private(set) var ends: [End] = []
    /// The number (counted from 1) of the flow's first packet.
    private(set) var firstFrame = 1
    /// The time of the flow's first packet, in nanoseconds since 1970; `nil` before the first packet.
    private(set) var start: UInt64?
    private var now = Duration.zero
    private var pending: [End] = []

    init(limit: Int) { conversation = RecordedConversation(limit: limit) }

    /// Returns the time elapsed since the beginning of the flow.
    func time(at moment: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: moment - min(moment, start ?? moment)))
    }

    func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        addEnds()
        let time = packet.summary.time
        if start == nil { (start, firstFrame) = (time, packet.summary.packetIndex + 1) }
        now = self.time(at: time)
        let side = packet.summary.side
        let flags = packet.summary.flags
        if flags.contains(.rst) || flags.contains(.fin) {
            let event: RecordedConversation.Event = flags.contains(.rst) ? .reset : .fin
            pending.append(End(event: event, side: side, frame: packet.summary.packetIndex + 1, time: time))
        }
    }

    func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        // Gaps are reported separately, by `requireWhole`.
        guard case .bytes(let bytes) = part.content else { return }
        self.conversation.add(.bytes(bytes), from: side == .client ? .client : .server, at: now)
    }

    func end(of conversation: Conversation) { addEnds() }

    private func addEnds() {
        for end in pending where !ends.contains(where: { $0.side == end.side }) {
            ends.append(end)
            conversation.add(end.event, from: end.side, at: now)
        }
        pending = []
    }
}
