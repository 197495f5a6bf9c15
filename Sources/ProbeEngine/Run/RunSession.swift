import CShims
import Glibc
import ProbeBase
package import ProbeSystem
package import ProbeTransport

/// The process-wide resources of a run. Each resource is acquired once, after the resources that it depends on
/// (``RunOrder``), and ``end()`` releases all resources.
///
/// The commands `run`, `explore`, `shrink`, `connect` and `listen` use a session.
package final class RunSession {
    package let descriptors: DescriptorBudget
    /// A descriptor that becomes readable when a signal that ends the run arrives.
    package let signals: Int32
    private var order = RunOrder()
    private var reactor: Reactor?

    /// Prepares the process for the run. From then on, signals such as SIGINT (Ctrl-C) are read from ``signals``.
    package init() throws(RunSessionError) {
        order.begin(.descriptors)
        probe_keep_memory_small()
        descriptors = DescriptorBudget()
        // The Swift runtime traps if it gets no descriptors, and a case needs about 16.
        if probe_has_descriptors(16) == 0 {
            throw RunSessionError(
                message: "too many open files; `ulimit -n` must allow at least 16 more files than "
                    + "are open")
        }
        order.begin(.signals)
        signals = probe_interrupt_descriptor()
        if signals < 0 {
            throw RunSessionError(message: "can't wait for signals: \(String(cString: strerror(errno)))")
        }
    }

    /// Moves the process into a private network namespace.
    package func enterNamespace() throws(Isolation.Failure) {
        order.begin(.namespace)
        try Isolation.enter()
    }

    /// Checks that threads can be started. Without this check, a dispatch queue that gets no thread would wait
    /// indefinitely.
    package func requireThreads(_ count: Int) throws(RunSessionError) {
        order.begin(.threads)
        if probe_has_threads(Int32(count)) == 0 {
            throw RunSessionError(
                message:
                    "can't start \(ByteText.count(count, "thread")); raise `ulimit -u` (or the container's limit on processes), "
                    + "or reduce `-j`")
        }
    }

    /// Begins to track the processes and folders of the run, and waits until the names of the run's subjects are known.
    /// A signal ends the wait early.
    ///
    /// - Returns: the reason why a subject can't be used; `nil` if all subjects can be used.
    package func begin(introducing subjects: [any SubjectSource] = []) -> SubjectFailure? {
        order.begin(.resources)
        ResourceTracker.begin()
        SubjectIntroductions(subjects).wait(orUntilReadable: signals)
        return subjects.lazy.compactMap(\.givenUp).first
    }

    /// Returns the signal that arrived before the run's work began; `nil` if none has.
    package func arrivedSignal() -> Int32? {
        let signal = probe_next_signal(signals)
        return signal > 0 ? signal : nil
    }

    /// Creates the reactor.
    package func makeReactor() throws(RunSessionError) -> Reactor {
        order.begin(.reactor)
        do throws(SystemError) {
            let reactor = try Reactor()
            self.reactor = reactor
            return reactor
        } catch {
            throw RunSessionError(message: "\(error)")
        }
    }

    /// Runs the given work on the reactor until the work is done.
    ///
    /// - Parameter onSignal: called on the reactor for each signal.
    /// - Throws: an error if the session can't wait for signals; the work has then not begun.
    package func run(
        onSignal: @escaping (Int32) -> Void, _ work: @escaping @Sendable () async -> Void
    ) throws(RunSessionError) {
        guard let reactor else { preconditionFailure("a run's work must begin after its reactor has been created") }
        order.begin(.work)
        do throws(SystemError) {
            try reactor.onSignal(from: signals, onSignal)
        } catch {
            throw RunSessionError(message: "can't wait for signals: \(error.reason)")
        }
        Task(executorPreference: reactor) {
            await work()
            reactor.stop()
        }
        reactor.run()
    }

    /// Runs cases on the reactor. The first signal ends the cases early, with complete results. A second signal ends
    /// the process immediately.
    ///
    /// - Parameter abort: completes the reports; called on a second signal, before the process ends.
    package func run(
        _ control: RunControl, abort: @escaping (_ signal: Int32) -> Void, _ work: @escaping @Sendable () async -> Void
    ) throws(RunSessionError) {
        let second: (Int32) -> Void = { signal in
            abort(signal)
            _exit(128 + signal)
        }
        try run(
            onSignal: { signal in
                if control.interruptedBy == nil { control.interrupt(by: signal) } else { second(signal) }
            }, work)
    }

    /// Ends the run's processes and removes its folders. Further calls do nothing.
    ///
    /// - Returns: the folders that could not be removed, each with the reason.
    package func end() -> [(folder: String, reason: String)] {
        if order.hasEnded { return [] }
        order.begin(.end)
        return ResourceTracker.endAll()
    }
}

/// The reason why a run can't begin.
package struct RunSessionError: Error {
    package var message: String
}

/// The order in which a run acquires its resources. A step may be omitted, but no step may follow a step that depends
/// on it.
package struct RunOrder {
    package enum Step: Int, Comparable, CaseIterable {
        /// Must be the first step: without free descriptors, every other step fails or traps.
        case descriptors
        /// Must precede `threads`, because threads inherit the signal mask, and `resources`, because they must be
        /// released if a signal arrives.
        case signals
        /// Must precede `threads`, because a process with several threads can't enter a user namespace.
        case namespace
        case threads
        /// Must precede the first process that the run starts.
        case resources
        case reactor, work
        case end

        package static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    private var last: Step?

    package init() {}

    var hasEnded: Bool { last == .end }

    package func allows(_ step: Step) -> Bool { last.map { $0 < step } ?? (step == .descriptors) }

    package mutating func begin(_ step: Step) {
        precondition(allows(step), "\(step) after \(last.map { "\($0)" } ?? "nothing")")
        last = step
    }
}
