import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Measures, for the steps of a case, the resource usage of a program and of all processes that it has started.
final class ResourceMeter {
    private let processes: ProcessTree
    /// The processor time that earlier steps have already judged, and the time at which the last of these steps
    /// measured it.
    private var judged: (time: Duration, at: MonotonicTime)
    /// The most recent measurement of the processor time; `nil` once a step has judged the measurement.
    private var looked: (time: Duration, at: MonotonicTime)?

    /// Creates a meter.
    ///
    /// - Parameter used: the processor time that was used before the case and that no step judges.
    private init(_ processes: ProcessTree, used: Duration) {
        self.processes = processes
        judged = (used, .now)
    }

    /// Returns the meter for a program that is starting. All of its resource usage is counted.
    static func forStarting(_ processes: ProcessTree) -> ResourceMeter { ResourceMeter(processes, used: .zero) }

    /// Returns the meter for a program that was running before the case. Only the processor time used from now on is
    /// counted.
    static func forRunning(_ processes: ProcessTree) -> ResourceMeter {
        ResourceMeter(processes, used: ProcessTable.problem == nil ? processes.processorTime() : .zero)
    }

    /// Measures the current usage of a resource.
    ///
    /// - Parameter name: the name of the program in messages.
    /// - Throws: an error that states why the usage can't be measured; the program is not the cause.
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
                    "the harness is not permitted to read the descriptors of process \(error.pid), which runs with "
                        + "different privileges"
                )
            }
        case .threads: amount = processes.threadCount()
        case .memory: amount = processes.residentMemory()
        case .cpu:
            // If a process exits and its parent does not call `wait`, the kernel discards the processor time of the
            // exited process, so the total decreases.
            let time = max(judged.time, processes.processorTime())
            looked = (time, .now)
            amount = Int(clamping: (time - judged.time).nanoseconds)
        }
        let now = MonotonicTime.now
        if processes.members().isEmpty {
            throw Finding(.error, "\(name) is not running, so there is nothing to measure")
        }
        return ResourceMeasure(amount: amount, at: now, over: now - judged.at)
    }

    /// Records that a step has judged the most recent measurement of the processor time, so that the next step counts
    /// only the time used since then.
    func take() {
        if let looked { judged = looked }
        looked = nil
    }

    /// Returns details that help determine why the usage is too high.
    func details(of resource: ResourceExpectation.Resource) -> [String] {
        guard resource == .descriptors else { return [] }
        let kinds = processes.kindsOfDescriptors().map { "\($0.count) \($0.kind)" }
        return kinds.isEmpty ? [] : ["open now: \(Escaped.text(kinds.joined(separator: ", ").utf8))"]
    }

    private static func notSeen(
        _ resource: ResourceExpectation.Resource, _ name: String, _ reason: String
    ) -> Finding {
        Finding(.inconclusive, "\(resource.noun) of \(name) can't be measured: \(reason)")
    }
}

/// A measurement of a resource's usage.
struct ResourceMeasure {
    /// The amount: a number of bytes, a count, or nanoseconds of processor time.
    var amount: Int
    var at: MonotonicTime
    /// The period in which the processor time was used; zero for other resources.
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
