import ProbeBase
package import ProbeDiagnose
import ProbeWire

extension Inspection {
    /// Returns the diagnosis of the flows that the filter includes. The inspection must come from `diagnosing`.
    ///
    /// - Parameter least: the least serious severity of a flow whose findings are described.
    package func diagnosis(_ filter: ConnectionFilter, describing least: FindingSeverity = .note) -> DiagnosisReport {
        var diagnosis = examination?.diagnosis ?? diagnosis ?? CaptureDiagnosis()
        let conversations = analysis.table.conversations
        var spans: [ClosedRange<UInt64>] = []
        for number in conversations.indices {
            conversations.withConversation(at: number) {
                guard let last = $0.lastTime else { return }
                diagnosis.note(time: last)
                spans.append(min($0.firstTime ?? last, last)...last)
            }
        }
        diagnosis.note(spans: spans)
        var flows: [FlowDiagnosis] = []
        let diagnosed = examination?.conversations ?? conversations
        for number in diagnosed.indices {
            let flow = diagnosed.withConversation(at: number) {
                diagnosis.end(of: $0, as: examination?.numbers[number], describing: least)
            }
            if let flow { flows.append(flow) }
        }
        // Findings about several flows depend on all flows, not only on those that are shown.
        var shared = diagnosis.summarize(&flows)
        flows.removeAll { !filter.includes($0.number, of: conversations) }
        let shown = Set(flows.map(\.number))
        shared.removeAll { $0.flows.allSatisfy { !shown.contains($0) } }
        return DiagnosisReport(
            flows: flows, healthyCount: healthyCount(filter), shared: shared,
            remarks: Self.remarks(self))
    }

    /// The number of flows that were screened and not examined.
    private func healthyCount(_ filter: ConnectionFilter) -> Int {
        guard let examination else { return 0 }
        let conversations = analysis.table.conversations
        return conversations.indices.count { number in
            let ends = conversations.endpoints(at: number)
            return !examination.flows.contains(ends.client, ends.server)
                && filter.includes(number, of: conversations)
        }
    }

    /// Returns what the whole capture lacks, so that some findings could not be raised.
    private static func remarks(_ inspection: Inspection) -> [String] {
        var remarks: [String] = []
        if inspection.dropped > 0 {
            remarks.append(
                "the capture dropped \(ByteText.count(Int(clamping: inspection.dropped), "packet")), which may look like losses on the network"
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
    /// The number of flows that were screened and not diagnosed, because they have at most notes.
    package var healthyCount: Int
    /// The findings about several flows.
    package var shared: [SharedFinding]
    /// What the capture lacks, one clause each.
    package var remarks: [String]

    package init(flows: [FlowDiagnosis], healthyCount: Int = 0, shared: [SharedFinding], remarks: [String]) {
        self.flows = flows
        self.healthyCount = healthyCount
        self.shared = shared
        self.remarks = remarks
    }

    /// The number of flows, including those that were not examined.
    package var flowCount: Int { flows.count + healthyCount }

    /// The most serious severity of all findings; `nil` if there are none.
    package var worst: FindingSeverity? {
        (flows.flatMap(\.findings) + shared.map(\.finding)).map(\.severity).min()
    }

    /// The number of flows with a problem.
    package var problemCount: Int {
        let parts = Set(shared.filter { $0.finding.severity == .problem }.flatMap(\.flows))
        return flows.count { $0.severity == .problem || parts.contains($0.number) }
    }

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

extension DiagnosisReport {
    /// The flows in the order of `ordered`, in groups. A group of several flows has the same client, the same server and
    /// the same single finding, that the connection failed, as after a port scan.
    package var groups: [[FlowDiagnosis]] {
        var groups: [[FlowDiagnosis]] = []
        var places: [String: Int] = [:]
        for flow in ordered {
            guard let finding = flow.findings.first, flow.findings.count == 1, finding.partOf == nil,
                finding.id == .refused || finding.id == .noAnswer
            else {
                groups.append([flow])
                continue
            }
            let key = "\(finding.id.rawValue) \(flow.client.address) \(flow.server.address)"
            if let place = places[key] {
                groups[place].append(flow)
            } else {
                places[key] = groups.count
                groups.append([flow])
            }
        }
        return groups.flatMap { $0.count >= 4 ? [$0] : $0.map { [$0] } }
    }
}

extension FlowDiagnosis {
    /// The severity of the most serious finding; `nil` if there are none.
    package var severity: FindingSeverity? { findings.first?.severity }

    /// Whether the flow has no finding that a finding about several flows doesn't include.
    package var isOnlyPart: Bool { findings.allSatisfy { $0.partOf != nil } }
}
