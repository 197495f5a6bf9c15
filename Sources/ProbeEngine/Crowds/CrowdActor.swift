import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeScenario
import ProbeSystem

/// A `crowd`: its workers, and what they last said of its members.
final class CrowdActor {
    enum Phase {
        case notStarted, running, stopped
    }

    let name: String
    let role: CrowdRole
    /// Its members, or those of this run's share.
    let count: Int
    /// This run's part of the crowd; nil: it has all of it.
    var share: CrowdShare?
    /// How many processes share its members.
    let workerCount: Int
    /// Where it is declared.
    let span: SourceSpan
    var receiveBuffer: Int?
    var tls: MemberTLS?
    /// The ports of members that have one address.
    var ports = SourceAddresses.ports
    /// `from`: what its members connect from.
    var sources: ClosedRange<UInt32>?
    /// Where the members of the last start connect from, and where from once that has no free port. Nil: the system chooses.
    var ends: (first: SourceAddresses?, other: SourceAddresses?)

    /// Of a crowd of servers: where its members are connected to.
    var address: SocketAddress?
    /// Keeps that address while no worker listens.
    var reservation: PortReservation?
    var endpoints: Set<EndpointPattern> = []

    var phase = Phase.notStarted
    var workers: [CrowdWorkerProcess] = []
    /// Those of earlier starts, until the case ends.
    var earlier: [CrowdWorkerProcess] = []
    /// What the members do.
    var script = CompiledCrowd(program: MemberProgram(instructions: [], terminator: []))
    /// As of the last question.
    var last: CrowdSnapshot?
    private var lastTime: MonotonicTime?
    /// Of the last start.
    var samples: CrowdSamples?
    /// How many members may have failed when the crowd ends, by the steps since the last start that say so; nil: there is none.
    var toleratedFailures: Int?
    /// A step since the last start has said how many members may fail: steps about others don't change that.
    var hasFailureBound = false
    /// The crowd did not say how its members were when it ended.
    var isSilent = false
    /// Of the first start before the last one whose failures no step has looked at.
    var unjudged: Finding?
    /// Its latencies are in the timeline.
    var isReported = false

    init(name: String, role: CrowdRole, count: Int, workerCount: Int, span: SourceSpan) {
        (self.name, self.role, self.count, self.workerCount, self.span) = (name, role, count, workerCount, span)
    }

    var isOfServers: Bool { if case .servers = role { true } else { false } }

    /// The server of the script that it connects to; nil: another target.
    var targetName: String? {
        guard case .clients(.actor(let name)) = role else { return nil }
        return name.value
    }

    /// Members wait more often than their script says, or more of them may come.
    var isMeasuredAgain: Bool {
        isOfServers || script.program.instructions.contains { if case .jump = $0 { true } else { false } }
    }

    // MARK: Questions

    /// A question to all workers that the crowd had at its time.
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

    /// Whether the crowd was started again after a question: its answers are of members that are gone.
    func isStale(_ question: Question) -> Bool {
        !question.parts.map(\.worker).elementsEqual(workers, by: ===)
    }

    /// The answers to a question as one; nil until all have come.
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

    /// Why one of its workers can't go on.
    var problem: String? { workers.lazy.compactMap(\.problem).first }

    /// For a report.
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
