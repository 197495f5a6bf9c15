package import ProbeBase

/// How packets that are missing from the capture could affect the verdict of a statement.
package enum MissingEffect: Sendable, Hashable, CaseIterable {
    /// The number that the statement compares with a bound could be greater.
    case grows
    /// The missing packets could contain what the statement excludes, so a failure is certain, but a pass is uncertain.
    case refutes
    /// The missing packets could contain what the statement requires, so a pass is certain, but a failure is uncertain.
    case confirms
    /// Neither a pass nor a failure is certain.
    case decides
}

extension WireAssertion {
    /// Returns how missing packets of one side could affect the verdict; `nil` if the verdict does not depend on them.
    package func effect(ofMissing side: ConversationSide) -> MissingEffect? {
        switch self {
        case .halfConnection(let statement, let from): statement.effect(isPeers: side != from)
        case .fin(let from), .rst(let from): side == from ? .confirms : nil
        case .noReset, .noRetransmission: .refutes
        case .closedFirst: .decides
        case .handshakeComplete: .confirms
        case .packets: .grows
        }
    }

    private var comparison: Comparison? {
        switch self {
        case .halfConnection(let statement, _): statement.bounded?.comparison
        case .packets(let comparison, _): comparison
        case .fin, .rst, .noReset, .noRetransmission, .closedFirst, .handshakeComplete: nil
        }
    }

    /// The statement that the compared number is greater than the bound; `nil` if this statement does not compare a
    /// number with a bound.
    fileprivate var exceeding: WireAssertion? {
        switch self {
        case .halfConnection(let statement, let side):
            statement.bounded.map { .halfConnection($0.replacing(.greater), from: side) }
        case .packets(_, let bound): .packets(.greater, bound)
        case .fin, .rst, .noReset, .noRetransmission, .closedFirst, .handshakeComplete: nil
        }
    }

    /// Returns whether the verdict could be different if the number were greater than it is in the capture.
    fileprivate func isUnsettled(_ verdict: WireVerdict, isExceeded: () -> Bool) -> Bool {
        switch (comparison, verdict) {
        case (.greater?, .passed), (.greaterOrEqual?, .passed): false
        case (.less?, .failed), (.lessOrEqual?, .failed): false
        case (.notEqual?, .passed), (.equal?, .failed): !isExceeded()
        default: true
        }
    }
}

/// Decides how packets that are missing from the capture affect the verdict of a statement.
enum MissingPackets {
    /// Returns the reason why the capture does not contain all packets that the statement depends on; `nil` if there is
    /// no sign of missing packets.
    static func unknownPart(
        concerning assertion: WireAssertion, in conversation: Conversation, _ names: SideNames
    ) -> String? {
        for side in ConversationSide.allCases where assertion.effect(ofMissing: side) != nil {
            if let unknown = conversation.unknownPart(of: side, names) { return unknown }
        }
        return nil
    }

    /// Returns whether missing packets could change the verdict.
    static func mayChange(
        _ assertion: WireAssertion, _ verdict: WireVerdict, in conversation: Conversation, _ names: SideNames
    ) -> Bool {
        if case .inconclusive = verdict { return false }
        let isPassed = verdict == .passed
        return ConversationSide.allCases.contains { side in
            guard let effect = assertion.effect(ofMissing: side), conversation.unknownPart(of: side, names) != nil
            else {
                return false
            }
            switch effect {
            case .decides: return true
            case .refutes:
                return isPassed || (conversation.beganLate(side) && dependsOnFirstByte(assertion, in: conversation))
            case .confirms: return !isPassed
            case .grows:
                return assertion.isUnsettled(verdict) {
                    assertion.exceeding.map { conversation.judgeCaptured($0, names) == .passed } ?? false
                }
            }
        }
    }

    /// Returns whether the statement depends on the last byte before the capture: if the first captured byte is an LF,
    /// the byte before the capture may have been the CR of the same line end.
    private static func dependsOnFirstByte(_ assertion: WireAssertion, in conversation: Conversation) -> Bool {
        guard case .halfConnection(.lines, let side) = assertion else { return false }
        return conversation.halfConnection(from: side).stream.lines.firstBareLF == 0
    }
}

extension Conversation {
    /// Returns the reason why the capture does not contain all packets of one side; `nil` if there is no sign of
    /// missing packets.
    package func unknownPart(of side: ConversationSide, _ names: SideNames = .plain) -> String? {
        if isUnseen(side) {
            return "the capture contains no packets from \(names[side]), only from \(names[side.opposite])"
        }
        if beganLate(side) {
            return
                "the capture does not contain the SYN from \(names[side]): what \(names[side]) sent before the "
                + "capture started is unknown"
        }
        guard let gap = firstUncaptured(of: side) else { return nil }
        let (bytes, verb) = (ByteText.count(Int(clamping: gap.length), "byte"), gap.length == 1 ? "is" : "are")
        return "\(bytes) from \(names[side]) at offset \(gap.offset) \(verb) missing from the capture"
    }

    /// Returns whether the other side acknowledges what this side sends, but the capture contains no packets from this
    /// side.
    package func isUnseen(_ side: ConversationSide) -> Bool {
        let half = halfConnection(from: side)
        return half.packetCount == 0 && half.acknowledgedEnd != nil
    }

    fileprivate func beganLate(_ side: ConversationSide) -> Bool {
        // A side that refuses a connection, or never responds, sends no SYN.
        switch side {
        case .client: fromClient.initialSequence == nil && packetCount > 0
        case .server:
            fromServer.initialSequence == nil && packetCount > 0
                && (fromClient.initialSequence == nil || fromServer.acknowledgedEnd != nil || fromServer.sentEnd > 0
                    || fromServer.segmentCount > 0)
        }
    }

    private func firstUncaptured(of side: ConversationSide) -> StreamGap? {
        side == .client ? fromClient.stream.firstUncaptured : fromServer.stream.firstUncaptured
    }
}

extension WireAssertion {
    package var isAboutRetransmissions: Bool {
        switch self {
        case .noRetransmission, .halfConnection(.retransmissions, _): true
        default: false
        }
    }
}

extension Conversation {
    /// Whether there are repeated segments for which the packets do not show whether the original was lost.
    package var hasDoubtfulRepeats: Bool { fromClient.doubtfulCount + fromServer.doubtfulCount > 0 }

    /// Decides for each repeated segment whether the original was lost, by comparing the segments that were sent with
    /// the segments that arrived. A caller can provide `arrived` only if the capture shows which packets were lost.
    package mutating func settleRepeats(by arrived: Conversation) {
        fromClient.settleRepeats(by: arrived.fromClient)
        fromServer.settleRepeats(by: arrived.fromServer)
    }
}

extension StreamAssembler {
    /// The first gap whose packets were not captured.
    fileprivate var firstUncaptured: StreamGap? { hasGaps ? gaps.first { $0.cause == .notCaptured } : nil }
}
