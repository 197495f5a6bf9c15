package import ProbeBase
package import ProbeDiagnose
package import ProbeWire

/// Diagnoses the flows of a capture while it is read.
package final class DiagnosisObserver: InspectionObserver {
    private var diagnosis = CaptureDiagnosis()

    package init() {}

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        guard let segment = packet.segment else { return }
        diagnosis.note(packet.summary, segment, payload: payload, in: conversation)
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {}

    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        diagnosis.note(report, in: conversation)
    }

    package func end(of conversation: Conversation) {}

    /// Returns the diagnosis of the whole capture. It can be called only once, after the capture has been read.
    package func result(_ inspection: Inspection, filter: ConnectionFilter) -> DiagnosisReport {
        let conversations = inspection.analysis.table.conversations
        for conversation in conversations {
            if let time = conversation.lastTime { diagnosis.note(time: time) }
        }
        var flows: [FlowDiagnosis] = []
        for conversation in conversations where filter.includes(conversation) {
            if let flow = diagnosis.end(of: conversation, droppedCount: inspection.dropped) { flows.append(flow) }
        }
        let shared = diagnosis.summarize(&flows)
        return DiagnosisReport(flows: flows, shared: shared, remarks: Self.remarks(inspection))
    }

    /// Returns what the whole capture lacks, so that some findings could not be raised.
    private static func remarks(_ inspection: Inspection) -> [String] {
        var remarks: [String] = []
        if inspection.dropped > 0 {
            remarks.append(
                "the capture dropped \(ByteText.count(Int(clamping: inspection.dropped), "packet")), so losses are less certain"
            )
        }
        if let unread = inspection.analysis.unread { remarks.append(unread) }
        if let unfollowed = inspection.analysis.unfollowed { remarks.append(unfollowed) }
        return remarks
    }
}

/// The diagnosis of a capture.
package struct DiagnosisReport: Sendable {
    package var flows: [FlowDiagnosis]
    /// The findings about several flows.
    package var shared: [SharedFinding]
    /// What the capture lacks, one clause each.
    package var remarks: [String]

    package init(flows: [FlowDiagnosis], shared: [SharedFinding], remarks: [String]) {
        self.flows = flows
        self.shared = shared
        self.remarks = remarks
    }

    /// The most serious severity of all findings; `nil` if there are none.
    package var worst: FindingSeverity? {
        (flows.flatMap(\.findings) + shared.map(\.finding)).map(\.severity).min()
    }

    /// The number of flows with a problem.
    package var problemCount: Int { flows.count { $0.severity == .problem } }

    /// The flows with the most serious findings first.
    package var ordered: [FlowDiagnosis] {
        flows.enumerated().sorted { left, right in
            let (a, b) = (left.element.findings.first, right.element.findings.first)
            switch (a, b) {
            case (nil, nil): return left.offset < right.offset
            case (nil, _): return false
            case (_, nil): return true
            case (let a?, let b?):
                if a.severity != b.severity { return a.severity < b.severity }
                return left.offset < right.offset
            }
        }.map(\.element)
    }
}

extension FlowDiagnosis {
    /// The severity of the most serious finding; `nil` if there are none.
    package var severity: FindingSeverity? { findings.first?.severity }

    /// Whether the flow has no finding that a finding about several flows doesn't include.
    package var isOnlyPart: Bool { findings.allSatisfy { $0.partOf != nil } }
}
