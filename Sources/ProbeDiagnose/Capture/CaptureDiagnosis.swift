package import ProbeBase
package import ProbeWire

/// Diagnoses all flows of a capture. Packets are added in the order of the capture.
package struct CaptureDiagnosis: Sendable {
    private var flows = FlowStore()
    private var stalls = StallWatch()
    private var lastTime: UInt64 = 0
    /// The long gaps in the capture, in which it has no packet of any flow.
    private var gaps: [Range<UInt64>] = []

    private let watchesStalls: Bool

    /// - Parameter watchesStalls: whether all packets of the capture are added, so that they show if all flows stall.
    package init(watchesStalls: Bool = true) { self.watchesStalls = watchesStalls }

    /// Adds a segment.
    ///
    /// - Parameters:
    ///   - payload: the captured part of the segment's payload.
    ///   - facts: the facts about the segment's flow, to which the segment has already been added. They are required
    ///     if `needsFacts` is true.
    package mutating func note(
        _ summary: PacketSummary, _ tcp: DecodedTCP, payload: Span<UInt8>, _ facts: ConversationFacts?
    ) {
        lastTime = max(lastTime, summary.time)
        let number = summary.conversation
        if watchesStalls { stalls.note(number, at: summary.time, isKeepAlive: summary.kind == .keepAlive) }
        let flow = flows.flow(number, from: summary.time, packet: summary.packetIndex + 1)
        let isObeyedReset = tcp.flags.contains(.rst) && facts?.hasReset(summary.side) == true
        flow.note(summary, tcp, payload: payload, isObeyedReset: isObeyedReset)
        if let facts { flow.noteScale(facts) }
    }

    /// Returns whether `note` needs the facts about a segment's flow: at the beginning of the flow, and for a reset.
    package func needsFacts(_ summary: PacketSummary) -> Bool {
        summary.flags.contains(.rst) || (flows[summary.conversation]?.packetCount ?? 0) < 32
    }

    /// Adds an ICMP error about a segment of a flow.
    package mutating func note(_ report: ICMPErrors.Report, of flow: Int) {
        lastTime = max(lastTime, report.time)
        flows[flow]?.note(report)
    }

    /// Adds the diagnosis of the other share of a capture's connections.
    ///
    /// - Parameter numbers: the new number of each flow of this share and of the other one, indexed by its old number.
    package mutating func merge(_ other: consuming CaptureDiagnosis, _ numbers: (own: [Int], other: [Int])) {
        var merged = FlowStore()
        flows.forEach { merged.insert($1, at: numbers.own[$0]) }
        other.flows.forEach { merged.insert($1, at: numbers.other[$0]) }
        flows = merged
        stalls.merge(other.stalls, numbers)
        lastTime = max(lastTime, other.lastTime)
    }

    /// Adds the time of a packet that does not belong to any of the diagnosed flows. Such a packet may be the last one
    /// in the capture, and its time is then the end of the capture.
    package mutating func note(time: UInt64) { lastTime = max(lastTime, time) }

    /// Records the times of the first and the last packet of each flow of the capture.
    ///
    /// A gap of more than two hours, after which a host sends a keep-alive (RFC 9293, section 3.8.4), is probably not a
    /// silence: the capture was interrupted, or consists of several captures.
    package mutating func note(spans: [ClosedRange<UInt64>]) {
        let longest: UInt64 = 7_200_000_000_000
        var end = UInt64.max
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if span.lowerBound > end, span.lowerBound - end > longest { gaps.append(end..<span.lowerBound) }
            end = end == UInt64.max ? span.upperBound : max(end, span.upperBound)
        }
    }

    /// Returns the diagnosis of a flow that has ended, and discards the flow's data; `nil` if the flow has no packets.
    ///
    /// - Parameters:
    ///   - number: the number of the flow in the capture, if it differs from that of `conversation`.
    ///   - least: the least serious severity of a flow whose findings are described.
    package mutating func end(
        of conversation: borrowing Conversation, as number: Int? = nil, describing least: FindingSeverity = .note
    ) -> FlowDiagnosis? {
        guard let flow = flows.remove(conversation.number) else { return nil }
        let last = conversation.lastTime ?? 0
        let end = gaps.first { $0.lowerBound >= last }?.lowerBound ?? lastTime
        var diagnosis = FlowDiagnosis(flow, conversation: conversation, end: end, describing: least)
        if let number { diagnosis.number = number }
        return diagnosis
    }

    /// Returns the diagnosis of a flow as if the capture ended at `time`, for live captures.
    package func current(_ conversation: borrowing Conversation, at time: UInt64) -> FlowDiagnosis? {
        guard let flow = flows[conversation.number] else { return nil }
        return flow.previewing {
            FlowDiagnosis(flow, conversation: conversation, end: max(time, lastTime), describing: .warning)
        }
    }

    /// Returns the answers of each server.
    package func answers(_ server: (Int) -> SocketEndpoint) -> [SocketEndpoint: FlowScreen.Answers] {
        var answers: [SocketEndpoint: FlowScreen.Answers] = [:]
        flows.forEach { number, flow in
            let samples = flow.server.answers.samples
            let late = samples.count { $0 >= 195 * Time.millisecond }
            answers[server(number), default: .init()] += .init(count: samples.count, lateCount: late)
        }
        return answers
    }

    /// Returns the findings that concern several flows, and marks each finding about a single flow that is a part of
    /// one of them.
    package func summarize(_ diagnoses: inout [FlowDiagnosis]) -> [SharedFinding] {
        SharedFindings(diagnoses, stalls.stalls).apply(to: &diagnoses)
    }
}

extension FlowObservation {
    /// Records an ICMP error that quotes a packet of the flow.
    func note(_ report: ICMPErrors.Report) {
        if icmp == nil { icmp = ICMPObservation(report, origin: origin) } else { icmp?.count += 1 }
    }

    /// Records whether the scale factors of the flow's windows are known.
    func noteScale(_ facts: ConversationFacts) {
        client.isRoomUnknown = facts.isServerScaleUnknown
        server.isRoomUnknown = facts.isClientScaleUnknown
    }
}

/// The facts about a flow that the analysis of the capture knows, and that the diagnosis needs.
package struct ConversationFacts: Sendable {
    private let hasClientReset: Bool
    private let hasServerReset: Bool
    /// Whether the scale of the client's windows is unknown.
    let isClientScaleUnknown: Bool
    let isServerScaleUnknown: Bool

    package init(_ conversation: borrowing Conversation) {
        hasClientReset = conversation.fromClient.rst != nil
        hasServerReset = conversation.fromServer.rst != nil
        isClientScaleUnknown = conversation.fromClient.window.hasUnknownScale
        isServerScaleUnknown = conversation.fromServer.window.hasUnknownScale
    }

    /// Returns whether the side reset the connection with an RST that its peer accepted.
    func hasReset(_ side: ConversationSide) -> Bool { side == .client ? hasClientReset : hasServerReset }

    var hasReset: Bool { hasClientReset || hasServerReset }
}

/// The observations of a capture's flows, by flow number.
struct FlowStore: Sendable {
    private var flows: [FlowObservation?] = []

    subscript(number: Int) -> FlowObservation? { number < flows.count ? flows[number] : nil }

    /// Returns the observation of a flow. It begins with the given packet if there is none yet.
    mutating func flow(_ number: Int, from time: UInt64, packet: Int) -> FlowObservation {
        if let flow = self[number] { return flow }
        let flow = FlowObservation(origin: time, firstPacket: packet)
        insert(flow, at: number)
        return flow
    }

    mutating func insert(_ flow: FlowObservation, at number: Int) {
        while flows.count <= number { flows.append(nil) }
        flows[number] = flow
    }

    mutating func remove(_ number: Int) -> FlowObservation? {
        guard number < flows.count else { return nil }
        defer { flows[number] = nil }
        return flows[number]
    }

    func forEach(_ body: (Int, FlowObservation) -> Void) {
        for (number, flow) in flows.enumerated() {
            if let flow { body(number, flow) }
        }
    }
}
