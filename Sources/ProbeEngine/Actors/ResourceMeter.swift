import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Measures what a program and all that it has started use of the machine, for the steps of a case.
final class ResourceMeter {
    private let processes: ProcessTree
    /// The processor time that earlier steps have looked at, and when the last of them did.
    private var judged: (time: Duration, at: MonotonicTime)
    /// The last look at the processor time.
    private var looked: (time: Duration, at: MonotonicTime)?

    /// - Parameter used: processor time that belongs to no step of the case.
    private init(_ processes: ProcessTree, used: Duration) {
        self.processes = processes
        judged = (used, .now)
    }

    /// Of a program that starts now: all that it uses counts.
    static func ofNew(_ processes: ProcessTree) -> ResourceMeter { ResourceMeter(processes, used: .zero) }

    /// Of a program that ran before the case: the processor time that it uses from now on counts.
    static func ofRunning(_ processes: ProcessTree) -> ResourceMeter {
        ResourceMeter(processes, used: ProcessTable.problem == nil ? processes.processorTime() : .zero)
    }

    /// - Parameter name: whose program it is.
    /// - Throws: why it can't be seen. That says nothing about the program.
    func measure(_ resource: ResourceExpectation.Resource, of name: String) throws(Finding) -> ResourceMeasure {
        if let reason = ProcessTable.problem { throw Self.notSeen(resource, name, reason) }
        looked = nil
        let amount: Int
        switch resource {
        case .descriptors:
            do throws(ProcessTree.Hidden) {
                amount = try processes.descriptorCount()
            } catch {
                throw Self.notSeen(
                    resource, name,
                    "the descriptors of its process \(error.pid) may not be read; it runs with other rights than the harness"
                )
            }
        case .threads: amount = processes.threadCount()
        case .memory: amount = processes.residentMemory()
        case .cpu:
            // The kernel forgets the time of a child that nobody waits for.
            let time = max(judged.time, processes.processorTime())
            looked = (time, .now)
            amount = Int(clamping: (time - judged.time).nanoseconds)
        }
        let now = MonotonicTime.now
        if processes.members().isEmpty {
            throw Finding(.error, "\(name) does not run: there is nothing to measure")
        }
        return ResourceMeasure(amount: amount, at: now, over: now - judged.at)
    }

    /// A step has judged the processor time of the last look: the next one counts from there.
    func take() {
        if let looked { judged = looked }
        looked = nil
    }

    /// What helps to find out why there is too much.
    func details(of resource: ResourceExpectation.Resource) -> [String] {
        guard resource == .descriptors else { return [] }
        let kinds = processes.kindsOfDescriptors().map { "\($0.count) \($0.kind)" }
        return kinds.isEmpty ? [] : ["open now: \(Escaped.text(kinds.joined(separator: ", ").utf8))"]
    }

    private static func notSeen(
        _ resource: ResourceExpectation.Resource, _ name: String, _ reason: String
    ) -> Finding {
        Finding(.inconclusive, "\(resource.noun) of \(name) can't be seen: \(reason)")
    }
}

/// What was measured at a moment.
struct ResourceMeasure {
    /// Bytes, a number, or nanoseconds of processor time.
    var amount: Int
    var at: MonotonicTime
    /// Of processor time: since when it counts.
    var over = Duration.zero
}

extension ResourceExpectation.Resource {
    fileprivate var noun: String {
        switch self {
        case .descriptors: "the descriptors"
        case .threads: "the threads"
        case .memory: "the memory"
        case .cpu: "the processor time"
        }
    }
}
