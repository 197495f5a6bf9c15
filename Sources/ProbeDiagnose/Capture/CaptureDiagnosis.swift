import ProbeBase
package import ProbeWire

/// Diagnoses all flows of a capture. Packets are added in the order of the capture.
package struct CaptureDiagnosis: Sendable {
    private var flows: [Int: FlowObservation] = [:]
    private var stalls = StallWatch()
    private var lastTime: UInt64 = 0

    package init() {}

    /// Adds a segment.
    ///
    /// - Parameters:
    ///   - payload: the captured part of the segment's payload.
    ///   - conversation: the flow, to which the segment has already been added.
    package mutating func note(
        _ summary: PacketSummary, _ tcp: DecodedTCP, payload: Span<UInt8>, in conversation: borrowing Conversation
    ) {
        lastTime = max(lastTime, summary.time)
        var isObeyed = false
        if tcp.flags.contains(.rst) { isObeyed = conversation.isReset(by: summary.side) }
        let number = summary.conversation
        stalls.note(number, at: summary.time)
        flows[
            number, default: FlowObservation(origin: summary.time, firstPacket: summary.packetIndex + 1)
        ].note(summary, tcp, payload: payload, isObeyedReset: isObeyed)
        if flows[number].map({ $0.packetCount < 32 }) ?? false { flows[number]?.noteScale(conversation) }
    }

    /// Adds an ICMP error about a segment of a flow.
    package mutating func note(_ report: ICMPErrors.Report, in conversation: borrowing Conversation) {
        lastTime = max(lastTime, report.time)
        flows[conversation.number]?.note(report)
    }

    /// Adds the time of a packet that belongs to no flow that is diagnosed, because the capture lasts until its end.
    package mutating func note(time: UInt64) { lastTime = max(lastTime, time) }

    /// Returns the diagnosis of a flow that ends now; `nil` if it has no packets.
    package mutating func end(
        of conversation: borrowing Conversation, droppedCount: UInt64 = 0
    ) -> FlowDiagnosis? {
        guard let flow = flows.removeValue(forKey: conversation.number) else { return nil }
        return FlowDiagnosis(flow, conversation: conversation, end: lastTime, droppedCount: droppedCount)
    }

    /// Returns the diagnosis of a flow as if the capture ended at `time`, for live captures.
    package func current(_ conversation: borrowing Conversation, at time: UInt64) -> FlowDiagnosis? {
        guard let flow = flows[conversation.number] else { return nil }
        return FlowDiagnosis(flow, conversation: conversation, end: max(time, lastTime), droppedCount: 0)
    }

    /// Returns the findings about several flows, and marks the findings of the flows that are parts of them.
    package func summarize(_ diagnoses: inout [FlowDiagnosis]) -> [SharedFinding] {
        SharedFindings(diagnoses, stalls.stalls).apply(to: &diagnoses)
    }
}

extension FlowObservation {
    /// Records an ICMP error that quotes a packet of the flow.
    mutating func note(_ report: ICMPErrors.Report) {
        if icmp != nil {
            icmp?.count += 1
            return
        }
        var isTooBig = false
        if case .tooBig = report.error.kind { isTooBig = true }
        icmp = ICMPObservation(
            text: report.text, side: report.side, isTooBig: isTooBig,
            time: Int64(clamping: Int128(report.time) - Int128(origin)), packet: report.packetIndex + 1)
    }

    /// Records whether the windows of the flow are scaled by a known factor.
    mutating func noteScale(_ conversation: borrowing Conversation) {
        client.isRoomUnknown = conversation.fromServer.window.hasUnknownScale
        server.isRoomUnknown = conversation.fromClient.window.hasUnknownScale
    }
}

/// Finds times at which all active flows of a capture stall together.
struct StallWatch: Sendable {
    struct Stall: Sendable {
        var start: UInt64
        var end: UInt64
        var active: Set<Int>
        var resumed: Set<Int> = []
        var isShared: Bool { active.count >= 3 && active.isSubset(of: resumed) }
    }

    private(set) var stalls: [Stall] = []
    private var recent: [(flow: Int, time: UInt64)] = []
    private var lastTime: UInt64 = 0
    private static let shortest: UInt64 = 500_000_000
    private static let resumption: UInt64 = 100_000_000
    private static let keptFlows = 64

    mutating func note(_ flow: Int, at time: UInt64) {
        defer { lastTime = max(lastTime, time) }
        if lastTime > 0, time > lastTime, time - lastTime >= Self.shortest {
            let last = lastTime
            let active = Set(recent.lazy.filter { $0.time &+ Self.shortest >= last }.map(\.flow))
            if stalls.last.map({ !$0.isShared }) ?? false { stalls.removeLast() }
            if active.count >= 3, stalls.count < 16 { stalls.append(Stall(start: lastTime, end: time, active: active)) }
        }
        if let last = stalls.last, time <= last.end + Self.resumption, time >= last.end {
            stalls[stalls.count - 1].resumed.insert(flow)
        }
        if let index = recent.lastIndex(where: { $0.flow == flow }) {
            recent[index].time = time
        } else {
            if recent.count == Self.keptFlows { recent.removeFirst() }
            recent.append((flow, time))
        }
    }
}
