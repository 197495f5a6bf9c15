package import ProbeBase
import ProbeWire

/// The diagnosis of one flow.
package struct FlowDiagnosis: Sendable {
    package internal(set) var number: Int
    package let client: SocketEndpoint
    package let server: SocketEndpoint
    /// The time of the first packet, in nanoseconds since 1970.
    package let start: UInt64
    /// The time from the first to the last packet, in nanoseconds.
    package let duration: Int64
    /// The time from the last packet of the flow to the end of the capture, in nanoseconds.
    package let trailing: Int64
    package let point: CapturePoint
    package let budget: TimeBudget
    /// The findings, the most important one first.
    package internal(set) var findings: [FlowFinding]
    /// The findings that are explained by other findings about the flow.
    package internal(set) var suppressed: [FlowFinding]
    package let clientBytes: Int64
    package let serverBytes: Int64
    package let packetCount: Int
    /// The minimum round-trip time, in nanoseconds; `nil` if it was not measured.
    package let roundTrip: Int64?
    /// The outcome of the flow, for findings that concern several flows.
    let outcome: Outcome

    /// The facts about a flow that are compared with the same facts about other flows.
    struct Outcome: Sendable {
        var hasSYN: Bool
        var isEstablished: Bool
        var isRefused: Bool
        /// The hop limit of the SYN, if it may be a probe of the route; otherwise `nil`.
        var probedHops: UInt8?
        /// Whether the SYN was never answered.
        var isUnanswered: Bool
        /// The time from the first packet of the connection to its failure; `nil` if the connection did not fail.
        var failedAfter: Int64?
        /// The time from the first packet of the connection to its end; `nil` if the connection was still open at the
        /// end of the capture.
        var closedAt: Int64?
        var answers: [Int64]
        var answerCount: Int
        var firstPacket: Int
        /// Whether the times of the flow can be compared with those of other flows.
        var isClockReliable: Bool
    }

    /// Ends the observation of a flow, and diagnoses the flow.
    ///
    /// - Parameters:
    ///   - end: the end of the capture, in nanoseconds since 1970.
    ///   - least: the least serious severity of a flow whose findings are described.
    init(
        _ flow: FlowObservation, conversation: borrowing Conversation, end: UInt64, describing least: FindingSeverity
    ) {
        let first = conversation.firstTime ?? 0
        let last = conversation.lastTime ?? first
        let duration = DurationText.difference(from: first, to: last)
        let isObeyed = flow.reset != nil && ConversationFacts(conversation).hasReset
        if flow.reset != nil, flow.set.refusal == nil { flow.reset?.isObeyed = isObeyed }
        flow.finish(duration: duration, isResetObeyed: isObeyed)
        trailing = max(0, DurationText.difference(from: last, to: end))
        let context = FlowContext(
            flow: flow, client: conversation.client, server: conversation.server, duration: duration,
            trailing: trailing)
        number = conversation.number
        client = conversation.client
        server = conversation.server
        start = first
        self.duration = duration
        point = context.point
        if context.isOneDirection { flow.budget.forgetWaits() }
        budget = flow.budget
        var found = Self.findings(in: context, isDescribed: least == .note)
        if least != .note, let severity = found.shown.first?.severity, severity <= least {
            found = Self.findings(in: context, isDescribed: true)
        }
        (findings, suppressed) = found
        clientBytes = flow.client.payloadLength
        serverBytes = flow.server.payloadLength
        packetCount = conversation.packetCount
        roundTrip = flow.roundTrip
        let isEstablished = flow.handshakeEnd != nil
        let isRefused = flow.set.refusal != nil && flow.server.syn == nil
        let hasFailed =
            isRefused || (!isEstablished && flow.client.syn != nil)
            || (flow.reset?.isObeyed == true && flow.reset?.side == .server && flow.server.dataPacketCount == 0)
        outcome = Outcome(
            hasSYN: flow.client.syn != nil, isEstablished: isEstablished, isRefused: isRefused,
            probedHops: flow.client.syn.flatMap { $0.isProbe ? $0.hopLimit : nil },
            isUnanswered: flow.client.syn != nil && flow.server.packetCount == 0 && !isEstablished,
            failedAfter: hasFailed ? duration : nil,
            closedAt: flow.phase == .closing || isRefused || isObeyed ? duration : nil,
            // Without the roles, it is not known which side asks and which one answers.
            answers: context.hasKnownRoles ? flow.server.answers.samples : [],
            answerCount: context.hasKnownRoles ? flow.server.answers.count : 0,
            firstPacket: flow.firstPacket, isClockReliable: flow.clock.isReliable)
    }

    /// Returns the findings of a flow.
    ///
    /// - Parameter isDescribed: whether the findings have evidence, sentences and numbers.
    private static func findings(in context: FlowContext, isDescribed: Bool) -> (
        shown: [FlowFinding], suppressed: [FlowFinding]
    ) {
        let list = FindingList(context, isDescribed: isDescribed)
        SetUpFindings(list: list).find()
        if context.flow.phase != .setUp, !context.isOneDirection {
            WindowFindings(list: list).find()
            LossFindings(list: list).find()
            WaitFindings(list: list).find()
            TLSFindings(list: list).find()
            CloseFindings(list: list).find()
        } else if context.flow.phase != .setUp {
            LossFindings(list: list).findUnanswered()
        }
        CaptureFindings(list: list).find()
        return Suppression.apply(list.findings, hasHandshake: context.flow.handshakeEnd != nil)
    }
}
