import ProbeBase

/// An interval whose state has not been determined yet, and the known facts about the interval.
struct PendingInterval: Sendable {
    var end: Int64
    var facts: PendingFacts
    /// The number of bytes that the client may send; `nil` if it is unknown. `serverRoom` is the same number for the
    /// server.
    var clientRoom: Int64?
    var serverRoom: Int64?
    /// The state of the interval, if an event has already determined it; otherwise `nil`.
    var state: FlowState?
}

struct PendingFacts: OptionSet, Sendable {
    let rawValue: UInt8
    static let recovery = PendingFacts(rawValue: 1)
    static let clientBlocked = PendingFacts(rawValue: 2)
    static let serverBlocked = PendingFacts(rawValue: 4)
    static let clientOutstanding = PendingFacts(rawValue: 8)
    static let serverOutstanding = PendingFacts(rawValue: 16)
    /// The client has closed its direction of the connection, and no data is outstanding. `serverClosed` is the same
    /// for the server.
    static let clientClosed = PendingFacts(rawValue: 32)
    static let serverClosed = PendingFacts(rawValue: 64)

    /// Returns whether the connection was half closed, in a wait that ends in the given way.
    func isHalfClosed(_ end: WaitEnd) -> Bool {
        guard contains(.clientClosed) || contains(.serverClosed) else { return false }
        if case .data(let side, _) = end { return contains(side == .client ? .clientClosed : .serverClosed) }
        return true
    }
}

/// The event that ends a wait.
enum WaitEnd {
    case data(ConversationSide, length: Int)
    case fin(ConversationSide)
    /// Neither data nor a FIN follows.
    case none

    /// Whether the event is data from the server.
    var isAnswer: Bool { if case .data(.server, _) = self { true } else { false } }
}

/// The states in which a wait was spent, unless a fact about an interval takes precedence.
struct WaitPlan {
    /// The time until which the network was delivering data; `nil` if no time was spent on delivery.
    var roundTripEnd: Int64?
    /// The state after `roundTripEnd`; `nil` for a transfer, whose state depends on what limits it in each interval.
    var state: FlowState?
    /// Whether the sender paused although an acknowledgment had arrived.
    var isPaused = false
}

extension WaitPlan {
    /// Decides what a wait that ends at `time` was spent on.
    init(_ end: WaitEnd, at time: Int64, in flow: FlowObservation) {
        self = Self.plan(end, at: time, in: flow)
    }

    private static func plan(_ end: WaitEnd, at time: Int64, in flow: FlowObservation) -> WaitPlan {
        guard let last = flow.lastData else {
            switch end {
            case .data(let side, _):
                let begin = flow.handshakeEnd ?? 0
                return WaitPlan(
                    state: side == .client && time - begin > FlowObservation.longestPause ? .silent : .thinking(side))
            case .fin, .none: return WaitPlan(state: .silent)
            }
        }
        let reply = min(last.firstReply ?? Int64.max, last.time + flow.delay(to: last.side.opposite))
        let answered = max(last.time, flow[last.side].acknowledgedTime)
        let isAcknowledged = flow[last.side].outstanding == 0
        switch end {
        case .data(let side, _) where side == last.side:
            if time - last.time > FlowObservation.longestPause { return WaitPlan(state: .silent) }
            let patience = max(2_000_000, (flow.roundTrip ?? 0) / 4) + flow.delay(to: side)
            let acknowledged = flow[side].acknowledgedTime
            return WaitPlan(isPaused: acknowledged >= last.time && time - acknowledged > patience)
        case .data(let side, _):
            let isLong = side == .client && time - last.time > FlowObservation.longestPause
            return WaitPlan(roundTripEnd: reply, state: isLong ? .silent : .thinking(side))
        case .fin(let side) where side != last.side:
            let isLong = side == .client && time - last.time > FlowObservation.longestPause
            return WaitPlan(roundTripEnd: reply, state: isLong ? .silent : .thinking(side))
        case .fin: return WaitPlan(roundTripEnd: isAcknowledged ? answered : reply, state: .silent)
        case .none:
            let waitsForServer = last.side == .client && flow.server.dataPacketCount > 0
            return WaitPlan(
                roundTripEnd: isAcknowledged ? answered : reply, state: waitsForServer ? .serverThinks : .silent)
        }
    }
}

extension PendingInterval {
    /// Returns what limited the transfer of a side during the interval.
    ///
    /// - Parameters:
    ///   - length: the length of the segment that ended the wait.
    ///   - isPaused: whether the sender paused although an acknowledgment had arrived.
    func limit(of side: ConversationSide, length: Int, isPaused: Bool, in flow: FlowObservation) -> FlowState {
        // The side is not copied, because this function is called for each segment.
        let isRoomUnknown = flow[side].isRoomUnknown
        let room = side == .client ? clientRoom : serverRoom
        let segment = Int64(max(flow[side].largestPayload, 1))
        let isOutstanding = facts.contains(side == .client ? .clientOutstanding : .serverOutstanding)
        // A closed window does not limit a sender that has nothing to send.
        let isClosed = facts.contains(side == .client ? .clientBlocked : .serverBlocked)
        if isClosed { return .transferApplication }
        if let room, !isRoomUnknown, room < min(segment, flow.segmentSize(of: side)) || room < Int64(length) {
            return .transferReceiveWindow
        }
        if !isOutstanding || isPaused { return .transferApplication }
        if room == nil || (isRoomUnknown && (room ?? 0) < segment) { return .transferUnknown }
        if flow.knownDelay(to: side.opposite) == nil { return .transferUnknown }
        return flow[side].rate.isSteady ? .transferPath : .transferCongestionWindow
    }
}
