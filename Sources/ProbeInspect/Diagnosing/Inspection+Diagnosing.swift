import ProbeBase
import ProbeDiagnose
package import ProbeWire

/// Which flows a pass over a capture diagnoses.
package enum DiagnosisScope: Sendable {
    case none
    case all
    /// No flow is diagnosed, but all flows are screened (`FlowScreen`).
    case screened
    case selected(FlowSelection)

    var isDiagnosis: Bool {
        switch self {
        case .none, .screened: false
        case .all, .selected: true
        }
    }

    var isScreened: Bool {
        if case .screened = self { true } else { false }
    }

    var selection: FlowSelection? {
        if case .selected(let flows) = self { flows } else { nil }
    }
}

extension Inspection {
    /// Reads `source` once, and diagnoses its flows.
    ///
    /// - Parameters:
    ///   - filter: selects the flows that `observer` receives. All flows are diagnosed.
    ///   - accepts: decides which packets are read; `nil` to read all packets.
    ///   - tunnels: whether tunnelled packets are replaced with the packets that they carry.
    ///   - view: which of the packets captured at the ends of links are read.
    ///   - measures: whether the result has `timings`.
    ///   - workers: the maximum number of threads, as for `of`.
    package static func diagnosing(
        _ source: consuming CaptureSource, limits: ConversationLimits = .passing,
        filter: ConnectionFilter = ConnectionFilter(), observer: (any InspectionObserver)? = nil,
        accepts: PacketPredicate? = nil, tunnels: TunnelReading = .opened, view: LinkView = .received,
        measures: Bool = false, workers: Int? = nil
    ) -> Inspection {
        var limits = limits
        limits.gapTolerance = .memory
        let isPlain = observer == nil && accepts == nil && !measures
        return read(
            &source, limits, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels, view: view,
            measures: measures, workers: isPlain ? workers ?? self.workers(for: source) : 1, .all)
    }

    /// The size from which on a file's flows are screened first. A smaller file is diagnosed in a fraction of a second.
    package static let smallestScreenedFile = 8_000_000

    /// Reads `source`, and diagnoses only the flows that may have a problem or deserve a warning. The capture is read a
    /// second time if there are any.
    ///
    /// The result has no diagnosis of the other flows, at most notes of which would be found. Findings about several
    /// flows may depend on flows that are healthy themselves. If there may be such a finding, all flows are diagnosed,
    /// as well as if the source can't be read again.
    package static func screening(
        _ source: consuming CaptureSource, tunnels: TunnelReading = .opened, view: LinkView = .received,
        workers: Int? = nil
    ) -> Inspection {
        var limits = ConversationLimits.passing
        limits.gapTolerance = .memory
        let workers = workers ?? self.workers(for: source)
        func read(_ source: inout CaptureSource, _ scope: DiagnosisScope) -> Inspection {
            self.read(
                &source, limits, filter: ConnectionFilter(), observer: nil, accepts: nil, tunnels: tunnels, view: view,
                measures: false, workers: workers, scope)
        }
        guard source.isRegular else { return read(&source, .all) }
        var all = read(&source, .screened)
        guard let flows = all.analysis.table.suspects else { return source.rewind() ? read(&source, .all) : all }
        guard source.rewind() else { return all }
        let examination = Examination(of: flows, flows.isEmpty ? nil : read(&source, .selected(flows)), in: all)
        if examination.needsAllFlows, source.rewind() { return read(&source, .all) }
        all.examination = examination
        return all
    }

    private static func read(
        _ source: inout CaptureSource, _ limits: ConversationLimits, filter: ConnectionFilter,
        observer: (any InspectionObserver)?, accepts: PacketPredicate?, tunnels: TunnelReading, view: LinkView,
        measures: Bool, workers: Int, _ scope: DiagnosisScope
    ) -> Inspection {
        if workers > 1,
            let shared = shared(source, limits: limits, tunnels: tunnels, view: view, diagnosing: scope)
        {
            return shared
        }
        return read(
            &source,
            InspectionPass(
                limits: limits, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels,
                measures: measures, diagnosing: scope),
            view)
    }

    /// The diagnosis of those flows of a capture that were not passed by the screen.
    struct Examination: Sendable {
        let flows: FlowSelection
        private(set) var diagnosis = CaptureDiagnosis()
        private(set) var conversations = ConversationList()
        /// The numbers of the flows in the whole capture.
        private(set) var numbers: [Int] = []
        /// Whether a server may have answered slowly. Whether it is slower than the others depends on all flows.
        private var hasSlowServer = false
        /// Whether the second pass did not find the same flows as the first one, because the file has changed meanwhile.
        private var hasChanged = false

        init(of flows: FlowSelection, _ examined: Inspection?, in all: Inspection) {
            self.flows = flows
            if let examined {
                diagnosis = examined.diagnosis ?? CaptureDiagnosis()
                conversations = examined.analysis.table.conversations
            }
            // Both lists are in the order of the flows' first packets.
            let others = all.analysis.table.conversations
            var place = 0
            for number in conversations.indices {
                let first = conversations.firstPacketIndex(at: number)
                while place < others.count, others.firstPacketIndex(at: place) < first { place += 1 }
                let isFound = place < others.count && others.firstPacketIndex(at: place) == first
                numbers.append(isFound ? place : -1)
            }
            let own = conversations
            let suspects = others.indices.count { number in
                let ends = others.endpoints(at: number)
                return flows.contains(ends.client, ends.server)
            }
            let found = own.indices.count { number in
                let ends = own.endpoints(at: number)
                return flows.contains(ends.client, ends.server)
            }
            func text(_ problem: InspectionProblem?) -> String { problem.map { "\($0)" } ?? "" }
            let hasOtherEnd = examined.map { text($0.problem) != text(all.problem) } ?? false
            hasChanged = numbers.contains(-1) || found != suspects || hasOtherEnd
            var answers = diagnosis.answers { own.endpoints(at: $0).server }
            all.analysis.table.screen?.add(to: &answers, others)
            hasSlowServer = answers.values.contains(where: \.areSlow)
        }

        var needsAllFlows: Bool {
            hasSlowServer || hasChanged
        }
    }
}
