import ProbeBase
package import ProbeDiagnose
import ProbeWire

/// Shows the findings about the flows of a live capture, each once: a certain finding as soon as it is certain, and a
/// likely one when its flow has ended.
package struct LiveFindings {
    package typealias Output = (FlowDiagnosis, FlowFinding) -> Void

    private struct Key: Hashable {
        var flow: Int
        var id: FindingID
    }

    private let output: Output
    private var shown: Set<Key> = []
    /// The flows that have ended and whose findings have all been shown.
    private var ended: Set<Int> = []
    private var nextUpdate: UInt64 = 0

    /// The interval at which flows are diagnosed, in nanoseconds. Silence is a finding, too, so flows without new
    /// packets are also diagnosed.
    private static let interval: UInt64 = 500_000_000
    /// The maximum number of flows that are diagnosed at a time. The latest flows that have not ended are diagnosed.
    private static let watchedFlows = 1_000

    package init(output: @escaping Output) { self.output = output }

    /// Shows new findings, unless the flows were diagnosed a moment ago.
    ///
    /// - Parameter now: the time, in nanoseconds since 1970.
    package mutating func update(_ pass: borrowing InspectionPass, at now: UInt64) {
        guard now >= nextUpdate else { return }
        nextUpdate = now + Self.interval
        show(pass, at: now, isFinal: false)
    }

    /// Shows all findings that have not been shown, at the end of the capture.
    package mutating func finish(_ pass: borrowing InspectionPass, at now: UInt64) {
        show(pass, at: now, isFinal: true)
    }

    private mutating func show(_ pass: borrowing InspectionPass, at now: UInt64, isFinal: Bool) {
        guard let diagnosis = pass.diagnosis else { return }
        let conversations = pass.analysis.table.conversations
        let open = conversations.indices.filter { !ended.contains($0) }
        for number in isFinal ? open[...] : open.suffix(Self.watchedFlows) {
            let (flow, isClosed) = conversations.withConversation(at: number) {
                (diagnosis.current($0, at: now), $0.isClosed)
            }
            if let flow { show(flow, isEnded: isFinal || isClosed) }
            if isClosed { ended.insert(number) }
        }
    }

    private mutating func show(_ flow: FlowDiagnosis, isEnded: Bool) {
        for finding in flow.findings where finding.severity != .note && (isEnded || finding.certainty == .certain) {
            if shown.insert(Key(flow: flow.number, id: finding.id)).inserted { output(flow, finding) }
        }
    }
}
