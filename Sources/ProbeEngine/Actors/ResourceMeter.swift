import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Measures the resource usage of a program and of everything that it has started, for the steps of a case.
final class ResourceMeter {
    private let processes: ProcessTree
    /// The processor time up to which earlier steps have judged, and when the last of them did.
    private var judged: (time: Duration, at: MonotonicTime)
    /// The last measurement of the processor time.
    private var looked: (time: Duration, at: MonotonicTime)?

    /// Creates a meter.
    ///
    /// - Parameter used: the processor time that belongs to no step of the case.
    private init(_ processes: ProcessTree, used: Duration) {
        self.processes = processes
        judged = (used, .now)
    }

    /// Returns the meter of a program that is starting: all its usage counts.
    static func forStarting(_ processes: ProcessTree) -> ResourceMeter { ResourceMeter(processes, used: .zero) }

    /// Returns the meter of a program that was running before the case: its processor time counts from now on.
    static func forRunning(_ processes: ProcessTree) -> ResourceMeter {
        ResourceMeter(processes, used: ProcessTable.problem == nil ? processes.processorTime() : .zero)
    }

    /// Measures the present usage of a resource.
    ///
    /// - Parameter name: the name of the program in messages.
    /// - Throws: the reason if it can't be measured, for which the program is not to blame.
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
                    "the harness may not read the descriptors of its process \(error.pid), which runs with different privileges"
                )
            }
        case .threads: amount = processes.threadCount()
        case .memory: amount = processes.residentMemory()
        case .cpu:
            // The kernel drops the time of a child that no process waits for.
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

    /// Notes that a step has judged the last measured processor time: the next step counts from there.
    func take() {
        if let looked { judged = looked }
        looked = nil
    }

    /// Returns details that help to find out why the usage is too high.
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

/// The result of a measurement.
struct ResourceMeasure {
    /// The amount in bytes, as a count, or in nanoseconds of processor time.
    var amount: Int
    var at: MonotonicTime
    /// For processor time, the period in which it was used.
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
