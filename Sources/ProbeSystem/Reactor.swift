package import ProbeBase
import CShims
import Glibc
import Synchronization

/// A thread that waits for descriptors and timers, and runs Swift jobs between them.
///
/// A reactor is a serial executor and a task executor: actors that use it as their executor run on the thread that
/// waits for their descriptors, so a step of the engine never switches threads. Handlers and timers are used only on
/// that thread; `enqueue`, `post` and `stop` may be called from any thread.
///
/// `@unchecked Sendable`: the descriptor table and the timers have no lock. They are used only on the loop's thread,
/// which `checkIsolated` verifies. The state that other threads use is in `posted`.
package final class Reactor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The operations for which a descriptor is ready.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let read = Readiness(rawValue: PROBE_EPOLLIN)
        package static let write = Readiness(rawValue: PROBE_EPOLLOUT)
        package static let urgent = Readiness(rawValue: PROBE_EPOLLPRI)
        package static let error = Readiness(rawValue: PROBE_EPOLLERR)
        package static let hangUp = Readiness(rawValue: PROBE_EPOLLHUP)
    }

    private struct Registration {
        var generation: UInt32
        var interest: Readiness
        var handler: (Readiness) -> Void
    }

    private struct PostedWork {
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var isStopping = false
        /// Whether the wake-up descriptor has been written since the loop last read it.
        var isAwakened = false
    }

    private let epoll: Int32
    private let wakeUp: Int32
    private let timer: Int32
    private let posted = Mutex(PostedWork())
    private let thread = Mutex<pthread_t?>(nil)

    private var registrations: [Int32: Registration] = [:]
    private var nextGeneration: UInt32 = 1
    private var timers = TimerQueue()
    private var armedFor: Int64 = 0
    private var watch = StandstillWatch()
    /// The time for which the loop polls for another event before it sleeps, because a peer often responds sooner than
    /// a thread can be woken up.
    package var spin = Duration.zero
    private var spinEnd = MonotonicTime.now

    /// Creates a reactor.
    ///
    /// - Throws: an error if the process has run out of descriptors.
    package init() throws(SystemError) {
        epoll = probe_epoll_create()
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        wakeUp = probe_eventfd()
        guard wakeUp >= 0 else {
            let error = SystemError("eventfd")
            close(epoll)
            throw error
        }
        timer = probe_timerfd()
        guard timer >= 0 else {
            let error = SystemError("timerfd_create")
            close(epoll)
            close(wakeUp)
            throw error
        }
        for descriptor in [wakeUp, timer] {
            _ = probe_epoll_set(
                epoll, PROBE_EPOLL_ADD, descriptor, PROBE_EPOLLIN, UInt64(UInt32(bitPattern: descriptor)))
        }
    }

    deinit {
        close(timer)
        close(wakeUp)
        close(epoll)
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = posted.withLock { posted in
            posted.jobs.append(job)
            defer { posted.isAwakened = true }
            return !posted.isAwakened
        }
        if mustWake { wake() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(isCurrent, "not on the reactor's thread")
    }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool {
        thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Queues a closure that the loop's thread will run. May be called from any thread.
    package func post(_ call: @escaping @Sendable () -> Void) {
        let mustWake = posted.withLock { posted in
            posted.calls.append(call)
            defer { posted.isAwakened = true }
            return !posted.isAwakened
        }
        if mustWake { wake() }
    }

    /// Makes `run` return after the queued closures have run. May be called from any thread.
    package func stop() {
        posted.withLock { $0.isStopping = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        // The result of the write is ignored: if the eventfd's counter is full, the descriptor is already readable.
        _ = write(wakeUp, &one, 8)
    }

    // MARK: Loop

    /// Serves descriptors, timers and jobs on the calling thread until ``stop()``.
    package func run() {
        thread.withLock { $0 = pthread_self() }
        probe_timer_slack()
        var data = [UInt64](repeating: 0, count: 64)
        var events = [UInt32](repeating: 0, count: 64)
        watch.restart()
        while true {
            let (jobs, calls, stopping) = posted.withLock { posted in
                defer {
                    posted.jobs = []
                    posted.calls = []
                    // The queue is checked again after the batch, so a job that is enqueued in the meantime needs no
                    // system call to wake the loop.
                    posted.isAwakened = true
                }
                return (posted.jobs, posted.calls, posted.isStopping)
            }
            for call in calls { call() }
            for job in jobs {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            if stopping && jobs.isEmpty && calls.isEmpty { break }
            fireTimers()
            let mustNotSleep = posted.withLock { posted in
                posted.isAwakened = !posted.jobs.isEmpty || !posted.calls.isEmpty || posted.isStopping
                return posted.isAwakened
            }
            if !mustNotSleep { armTimer() }
            watch.worked()
            // If a timer is pending, the loop wakes up regularly, so that the time at which it last ran is known after
            // a stall.
            let isTimed = timers.nextDeadline != nil
            let patience = mustNotSleep ? 0 : isTimed ? Int32(Standstills.heartbeat.nanoseconds / 1_000_000) : -1
            let looksAgain = spin > .zero && watch.lastRun < spinEnd && patience != 0
            var count = probe_epoll_wait(epoll, &data, &events, 64, looksAgain ? 0 : patience)
            if looksAgain {
                while count == 0, MonotonicTime.now < spinEnd { count = probe_epoll_wait(epoll, &data, &events, 64, 0) }
                if count == 0 { count = probe_epoll_wait(epoll, &data, &events, 64, patience) }
            }
            watch.slept(due: mustNotSleep ? watch.lastRun : timers.nextDeadline)
            if count > 0 {
                if spin > .zero { spinEnd = .now + spin }
                for index in 0..<Int(count) { dispatch(data[index], events[index]) }
            }
        }
        thread.withLock { $0 = nil }
    }

    private func dispatch(_ data: UInt64, _ events: UInt32) {
        let descriptor = Int32(truncatingIfNeeded: data & 0xffff_ffff)
        if descriptor == wakeUp || descriptor == timer {
            var count: UInt64 = 0
            _ = read(descriptor, &count, 8)
            if descriptor == timer { armedFor = 0 }
            return
        }
        // If a descriptor was closed and reused in this round, its generation differs from that of the event.
        guard let registration = registrations[descriptor],
            registration.generation == UInt32(truncatingIfNeeded: data >> 32)
        else { return }
        registration.handler(Readiness(rawValue: events))
    }

    // MARK: Stalls

    /// Returns a deadline, extended by the time for which this thread has been stalled since `start`; see
    /// ``Standstills``. Must be called on the loop's thread.
    package func extended(_ deadline: MonotonicTime, from start: MonotonicTime) -> MonotonicTime {
        watch.worked()
        return watch.standstills.extended(deadline, from: start)
    }

    /// Returns the periods in which this thread was stalled, up to now. Must be called on the loop's thread.
    package func currentStandstills() -> Standstills {
        watch.worked()
        return watch.standstills
    }

    private func fireTimers() {
        // Only the timers that are due now are run. Timers that their actions add are run in a later round, so that
        // descriptors are served in between.
        let now = MonotonicTime.now
        while let action = timers.popDue(at: now) { action() }
    }

    private func armTimer() {
        let next = timers.nextDeadline?.nanoseconds ?? 0
        if next == armedFor { return }
        armedFor = next
        // The value 0 would disarm the timer. The value 1 is a time in the past, so the timer fires immediately.
        _ = probe_timerfd_set(timer, timers.nextDeadline == nil ? 0 : max(next, 1))
    }

    // MARK: Descriptors and timers (on the loop's thread)

    /// Calls `handler` while `descriptor` is ready for `interest`. Readiness is level-triggered, and errors are always
    /// reported.
    package func register(
        _ descriptor: Int32, for interest: Readiness, handler: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        let generation = nextGeneration
        nextGeneration &+= 1
        let data = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        if probe_epoll_set(epoll, PROBE_EPOLL_ADD, descriptor, interest.rawValue, data) < 0 {
            throw SystemError("epoll_ctl")
        }
        registrations[descriptor] = Registration(generation: generation, interest: interest, handler: handler)
    }

    /// Changes the events that a registered descriptor is watched for.
    package func setInterest(_ interest: Readiness, of descriptor: Int32) {
        guard var registration = registrations[descriptor], registration.interest != interest else { return }
        registration.interest = interest
        registrations[descriptor] = registration
        let data = UInt64(registration.generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        _ = probe_epoll_set(epoll, PROBE_EPOLL_MOD, descriptor, interest.rawValue, data)
    }

    /// Stops watching the descriptor. Must be called before the descriptor is closed.
    package func unregister(_ descriptor: Int32) {
        if registrations.removeValue(forKey: descriptor) != nil {
            _ = probe_epoll_set(epoll, PROBE_EPOLL_DEL, descriptor, 0, 0)
        }
    }

    package func isRegistered(_ descriptor: Int32) -> Bool { registrations[descriptor] != nil }

    /// Runs `action` at `deadline` or soon after it, never before.
    @discardableResult
    package func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerQueue.ID {
        timers.add(deadline, action)
    }

    package func cancel(_ timer: TimerQueue.ID) {
        timers.cancel(timer)
    }
}

extension Reactor {
    /// Starts a reactor on its own thread, which runs until the reactor is stopped. Returns `nil` if no descriptor or
    /// no thread is available.
    package static func onThread() -> Reactor? {
        do {
            let reactor = try Reactor()
            try WorkerThread("reactor", signals: .inherited) { reactor.run() }.detach()
            return reactor
        } catch {
            return nil
        }
    }

    /// Calls the closure for each signal that arrives on the descriptor returned by `probe_interrupt_descriptor`.
    package func onSignal(from descriptor: Int32, _ action: @escaping (Int32) -> Void) throws(SystemError) {
        try register(descriptor, for: .read) { _ in
            let signal = probe_next_signal(descriptor)
            if signal > 0 { action(signal) }
        }
    }
}
