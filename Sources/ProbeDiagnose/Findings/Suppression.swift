/// The rules by which a finding that is only a consequence of another one is set aside.
enum Suppression {
    /// Marks the findings that others explain, and returns the others, in their order.
    static func apply(_ findings: [Finding]) -> (shown: [Finding], suppressed: [Finding]) {
        var shown: [Finding] = []
        var suppressed: [Finding] = []
        for finding in findings {
            // A finding that is itself explained can't explain another one, except through the one that explains it.
            if let cause = findings.first(where: { $0.id != finding.id && explains($0, finding) }) {
                var finding = finding
                finding.suppressedBy = cause.id
                suppressed.append(finding)
            } else {
                shown.append(finding)
            }
        }
        return (shown.sorted(by: Finding.precedes), suppressed.sorted(by: Finding.precedes))
    }

    private static let resets: Set<FindingID> = [.resetByClient, .resetByServer, .injectedReset]

    /// Returns whether `cause` explains `other`.
    private static func explains(_ cause: Finding, _ other: Finding) -> Bool {
        if cause.id.isFailedSetUp, cause.severity == .problem { return !other.id.isAboutCapture }
        switch cause.id {
        case .mtuBlackHole:
            return [.loss, .timeoutStall, .tailLoss, .vanished].contains(other.id) || resets.contains(other.id)
        case .zeroWindow where cause.severity != .note:
            return [.windowLimited, .smallWindow, .sillyWindow, .halfClosed, .dataLostAtClose].contains(other.id)
                || resets.contains(other.id)
        case .zeroWindow: return [.windowLimited, .smallWindow, .sillyWindow].contains(other.id)
        case .loss where cause.severity != .note:
            if other.id == .timeoutStall { return other.severity >= cause.severity }
            return [.tailLoss, .spuriousRetransmission, .reordering].contains(other.id)
        case .timeoutStall:
            if other.id == .loss { return other.severity > cause.severity }
            return other.id == .tailLoss
        case .vanished: return [.timeoutStall, .loss, .tailLoss, .keepAliveFailed].contains(other.id)
        case .halfClosed: return resets.contains(other.id) && cause.severity <= other.severity
        case .synLost: return other.id == .slowHandshake
        case .injectedReset: return [.dataLostAtClose, .resetByClient, .resetByServer].contains(other.id)
        case .resetByClient, .resetByServer: return other.id == .dataLostAtClose
        case .slowServer, .slowClient: return other.id == .applicationLimited
        case .noWindowScaling where cause.severity == .warning: return other.id == .windowLimited
        default: return false
        }
    }
}
