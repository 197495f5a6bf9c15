import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem

/// A `crowd`: its workers, and their most recent reports about its members.
final class CrowdActor {
    enum Phase {
        case notStarted, running, stopped
    }

    let name: String
    let role: CrowdRole
    /// The number of members. If several runs share the crowd, this is the number of members in this run's share.
    let count: Int
    /// This run's share of the crowd; `nil` if the run has all members.
    var share: CrowdShare?
    /// The number of processes that share the members.
    let workerCount: Int
    /// The location of the crowd's declaration in the script.
    let span: SourceSpan
    var receiveBuffer: Int?
    var tls: MemberTLS?
    /// The source ports of members that share a single address.
    var ports = SourceAddresses.ports
    /// The source addresses of the members' connections, as given by `from`.
    var sources: ClosedRange<UInt32>?
    /// The source addresses of the members since the crowd's last start, and the addresses to use when none of these
    /// addresses has a free port. If `nil`, the system chooses an address.
    var ends: (first: SourceAddresses?, other: SourceAddresses?)

    /// The address of a crowd of servers, to which clients connect.
    var address: SocketAddress?
    /// The reservation of the address of a crowd of servers while no worker listens on that address.
    var reservation: PortReservation?
    var endpoints: Set<EndpointPattern> = []

    var phase = Phase.notStarted
    var workers: [CrowdWorkerProcess] = []
    /// The workers of earlier starts, which are kept until the case ends.
    var earlier: [CrowdWorkerProcess] = []
    /// The compiled script of the members.
    var script = CompiledCrowd(program: MemberProgram(instructions: [], terminator: []))
    /// The most recent snapshot of the members' state.
    var last: CrowdSnapshot?
    private var lastTime: MonotonicTime?
    /// The samples taken since the last start.
    var samples: CrowdSamples?
    /// The number of members that may have failed when the crowd ends, according to the steps since the last start;
    /// `nil` if no step has judged the number of failed members.
    var toleratedFailures: Int?
    /// Whether a step since the last start has limited the number of failed members. If so, steps that expect other
    /// counts don't change the limit.
    var hasFailureBound = false
    /// Whether the crowd failed to report the state of its members when it ended.
    var isSilent = false
    /// The finding about the first of the crowd's earlier starts in which a problem occurred that no step has judged;
    /// `nil` if there was no such problem.
    var unhandledFinding: Finding?
    /// Whether the latencies of the current start have been added to the timeline.
    var isReported = false

    init(name: String, role: CrowdRole, count: Int, workerCount: Int, span: SourceSpan) {
        (self.name, self.role, self.count, self.workerCount, self.span) = (name, role, count, workerCount, span)
    }

    var isServerCrowd: Bool { if case .servers = role { true } else { false } }

    /// The server in the script that the crowd connects to; `nil` for any other target.
    var targetName: String? {
        guard case .clients(.actor(let name)) = role else { return nil }
        return name.value
    }

    /// Whether there may be more waits than the members' script contains, because the script repeats or because more
    /// clients may connect.
    var isMeasuredAgain: Bool {
        isServerCrowd || script.program.instructions.contains { if case .jump = $0 { true } else { false } }
    }

    // MARK: Questions

    /// A question that was sent to all workers that the crowd had at that time.
    struct Question {
        fileprivate var parts: [(worker: CrowdWorkerProcess, number: Int)]
        var isAboutLatencies: Bool
        var time: MonotonicTime
    }

    func ask(latencies: Bool, rests: Bool = false, at time: MonotonicTime) -> Question {
        Question(
            parts: workers.map { ($0, $0.ask(latencies: latencies, rests: rests)) }, isAboutLatencies: latencies,
            time: time)
    }

    /// Returns whether the crowd was started again after a question. If it was, the answers are about members that no
    /// longer exist.
    func isStale(_ question: Question) -> Bool {
        !question.parts.map(\.worker).elementsEqual(workers, by: ===)
    }

    /// Returns the merged answers to a question; `nil` until all answers have arrived.
    func take(_ question: Question) -> CrowdSnapshot? {
        guard question.parts.allSatisfy({ $0.worker.hasAnswer($0.number) }) else { return nil }
        var merged = CrowdSnapshot()
        for (worker, number) in question.parts {
            if let answer = worker.takeAnswer(number) { merged.merge(answer) }
        }
        if !isStale(question), lastTime.map({ $0 <= question.time }) ?? true {
            (last, lastTime) = (merged, question.time)
        }
        return merged
    }

    /// The reason why one of the workers can't continue; `nil` if all workers can continue.
    var problem: String? { workers.lazy.compactMap(\.problem).first }

    /// The crowd's state in words, for the case's report.
    var state: String {
        switch phase {
        case .notStarted: "not started"
        case .running, .stopped:
            (phase == .stopped ? "stopped; " : "")
                + (last.map {
                    "connected \($0.connected) of \(count), alive \($0.alive), failed \($0.failed), done \($0.done)"
                } ?? "started")
        }
    }
}
