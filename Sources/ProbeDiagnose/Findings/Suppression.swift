/// The rules by which a finding is suppressed because it is only a consequence of another finding.
enum Suppression {
    /// Separates the findings that are explained by other findings from the findings to show. Both lists are ordered by
    /// importance.
    ///
    /// - Parameter hasHandshake: whether the connection was established, so that no finding is a failed set-up.
    static func apply(_ findings: [FlowFinding], hasHandshake: Bool = false) -> (
        shown: [FlowFinding], suppressed: [FlowFinding]
    ) {
        var shown: [FlowFinding] = []
        var suppressed: [FlowFinding] = []
        for finding in findings {
            // The finding that explains this one may itself be explained by a third finding.
            if let cause = findings.first(where: { $0.id != finding.id && explains($0, finding, hasHandshake) }) {
                var finding = finding
                finding.suppressedBy = cause.id
                suppressed.append(finding)
            } else {
                shown.append(finding)
            }
        }
        return (shown.sorted(by: FlowFinding.precedes), suppressed.sorted(by: FlowFinding.precedes))
    }

    /// The findings about one direction of a flow. Their side is the path to the receiver, or the receiver.
    private static let directed: Set<FindingID> = [
        .loss, .timeoutStall, .tailLoss, .reordering, .closedWindow, .windowLimited, .smallWindow, .sillyWindow,
    ]
    private static let resets: Set<FindingID> = [.resetByClient, .resetByServer, .injectedReset]

    /// Returns whether two findings are about the same direction. A side that receives data is at the end of a path.
    private static func haveSameDirection(_ first: FlowFinding, _ second: FlowFinding) -> Bool {
        func receiver(_ side: FindingSide) -> FindingSide {
            side == .pathToClient ? .client : side == .pathToServer ? .server : side
        }
        return receiver(first.side) == receiver(second.side)
    }

    /// Returns whether `cause` explains `other`.
    private static func explains(_ cause: FlowFinding, _ other: FlowFinding, _ hasHandshake: Bool) -> Bool {
        if cause.id.isFailedSetUp, cause.severity == .problem, !hasHandshake {
            let isEqual = other.id.isFailedSetUp && other.severity == .problem
            return !other.id.isAboutCapture && (!isEqual || FlowFinding.precedes(cause, other))
        }
        // A loss in one direction does not explain what happened in the other direction.
        if directed.contains(cause.id), directed.contains(other.id), cause.side != other.side { return false }
        switch cause.id {
        case .mtuBlackHole:
            return [.loss, .timeoutStall, .tailLoss, .vanished].contains(other.id) || resets.contains(other.id)
        case .closedWindow where cause.severity != .note:
            return [.windowLimited, .smallWindow, .sillyWindow, .halfClosed, .dataLostAtClose].contains(other.id)
                || resets.contains(other.id)
        case .closedWindow: return [.windowLimited, .smallWindow, .sillyWindow].contains(other.id)
        case .loss where cause.severity != .note:
            // A timeout that took longer than all fast recoveries is what a user notices.
            if other.id == .timeoutStall {
                return other.severity >= cause.severity && other.explained <= cause.explained
            }
            return [.tailLoss, .spuriousRetransmission, .reordering].contains(other.id)
        case .timeoutStall:
            if other.id == .loss { return other.severity > cause.severity }
            return other.id == .tailLoss
        case .vanished:
            return [.timeoutStall, .loss, .tailLoss, .keepAliveFailed, .dataLostAtClose].contains(other.id)
                || resets.contains(other.id)
        case .halfClosed: return resets.contains(other.id) && cause.severity <= other.severity
        case .acceptQueueFull:
            if cause.severity == .problem { return !other.id.isAboutCapture }
            return [.timeoutStall, .loss, .tailLoss, .spuriousRetransmission, .synLost].contains(other.id)
        case .icmpUnreachable: return [.timeoutStall, .loss, .tailLoss, .spuriousRetransmission].contains(other.id)
        // A window that is filled while a queue delays the flow only fills the queue. The path is the limit.
        case .bufferbloat:
            return [.windowLimited, .smallWindow].contains(other.id) && haveSameDirection(cause, other)
        case .duplicatePackets: return other.id == .spuriousRetransmission && cause.severity <= other.severity
        case .synLost: return other.id == .slowHandshake
        case .injectedReset: return [.dataLostAtClose, .resetByClient, .resetByServer].contains(other.id)
        case .resetByClient, .resetByServer: return other.id == .dataLostAtClose
        case .requestUnfinished: return other.id == .slowServer
        case .tlsHandshakeStalled: return other.id == .requestUnfinished && cause.side == other.side
        case .slowServer, .slowClient: return other.id == .applicationLimited
        case .sillyWindow: return other.id == .windowLimited
        case .smallWindow where cause.severity != .note: return other.id == .windowLimited
        case .noWindowScaling where cause.severity == .warning: return other.id == .windowLimited
        default: return false
        }
    }
}
