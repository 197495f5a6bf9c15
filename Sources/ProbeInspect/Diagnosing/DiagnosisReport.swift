import ProbeBase
package import ProbeDiagnose
import ProbeWire

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

    /// Returns the diagnosis of the whole capture. This function can be called only once, after the capture has been
    /// read.
    package func result(_ inspection: Inspection, filter: ConnectionFilter) -> DiagnosisReport {
        let conversations = inspection.analysis.table.conversations
        for conversation in conversations {
            if let time = conversation.lastTime { diagnosis.note(time: time) }
        }
        var flows: [FlowDiagnosis] = []
        for number in conversations.indices where filter.includes(number, of: conversations) {
            let flow = conversations.withConversation(at: number) { diagnosis.end(of: $0, droppedCount: dropped) }
            if let flow { flows.append(flow) }
        }
        let shared = diagnosis.summarize(&flows)
        return DiagnosisReport(flows: flows, shared: shared, remarks: Self.remarks(self))
    }

    /// Returns remarks about data that the capture lacks, because of which some findings may be missing or uncertain.
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
    /// The findings that concern several flows.
    package var shared: [SharedFinding]
    /// Remarks about data that the capture lacks, each of which is a clause.
    package var remarks: [String]

    package init(flows: [FlowDiagnosis], shared: [SharedFinding], remarks: [String]) {
        self.flows = flows
        self.shared = shared
        self.remarks = remarks
    }

    /// The severity of the most serious finding; `nil` if there are no findings.
    package var worst: FindingSeverity? {
        (flows.flatMap(\.findings) + shared.map(\.finding)).map(\.severity).min()
    }

    /// The number of flows with a problem.
    package var problemCount: Int { flows.count { $0.severity == .problem } }

    /// The flows, ordered by the severity of their most serious findings.
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
    /// The severity of the flow's most serious finding; `nil` if the flow has no findings.
    package var severity: FindingSeverity? { findings.first?.severity }

    /// Whether every finding about the flow is a part of a finding about several flows.
    package var isOnlyPart: Bool { findings.allSatisfy { $0.partOf != nil } }
}
