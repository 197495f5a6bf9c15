import ArgumentParser
import ProbeBase
import ProbeExplore
import ProbeInspect
import ProbeWire

/// What was said on one flow of a capture.
struct FlowRecording {
    let conversation: RecordedConversation
    /// Its address, as a script says it.
    let server: String

    /// - Throws: the exit code, after the reason was printed.
    static func of(_ flow: Int, in path: String) throws -> FlowRecording {
        let observer = FlowRecorder()
        let inspection: Inspection
        do throws(CaptureSourceError) {
            inspection = Inspection.of(
                try CaptureSource(path: path), limits: .handingOut, filter: ConnectionFilter(number: flow),
                observer: observer)
        } catch {
            throw Failure.wrongUse("\(Escaped.text(path)): \(error)")
        }
        if let problem = inspection.problem {
            Console.standardError.write("error: \(Escaped.text(path)): \(problem)\n")
            throw ExitCode(problem.isWrongUse ? 2 : 3)
        }
        let conversations = inspection.analysis.table.conversations
        guard flow >= 0, flow < conversations.count else {
            throw Failure.wrongUse(
                "\(Escaped.text(path)): there is no flow \(flow): the file has \(ByteText.count(conversations.count, "flow")); `tcpprobe inspect` lists them"
            )
        }
        if let gap = observer.gap {
            throw Failure.machine(
                "\(Escaped.text(path)): flow \(flow) has a gap: \(ByteText.count(Int(clamping: gap.length), "byte")) at offset \(gap.offset) of what the \(gap.side) sent are missing. Capture it again, whole"
            )
        }
        return FlowRecording(
            conversation: observer.conversation, server: "\(conversations[flow].endpoint(of: .server))")
    }
}

/// Collects the turns of a flow. A FIN counts behind the bytes of its packet.
private final class FlowRecorder: InspectionObserver {
    private(set) var conversation = RecordedConversation()
    private(set) var gap: (offset: Int64, length: Int64, side: String)?
    private var start: UInt64?
    private var now = Duration.zero
    private var ends: [(RecordedConversation.Event, RecordedConversation.Side)] = []
    private var ended: Set<RecordedConversation.Side> = []

    func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        addEnds()
        let time = packet.summary.time
        if start == nil { start = time }
        now = .nanoseconds(Int64(clamping: time - min(time, start ?? time)))
        let side: RecordedConversation.Side = packet.summary.side == .client ? .client : .server
        if packet.summary.flags.contains(.rst) {
            ends.append((.reset, side))
        } else if packet.summary.flags.contains(.fin) {
            ends.append((.fin, side))
        }
    }

    func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        switch part.content {
        case .bytes(let bytes): self.conversation.add(.bytes(bytes), from: side == .client ? .client : .server, at: now)
        case .gap(let missing):
            if gap == nil { gap = (missing.offset, missing.length, side == .client ? "client" : "server") }
        }
    }

    func end(of conversation: Conversation) { addEnds() }

    private func addEnds() {
        for (event, side) in ends where ended.insert(side).inserted { conversation.add(event, from: side, at: now) }
        ends = []
    }
}
