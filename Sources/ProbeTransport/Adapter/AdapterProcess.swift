import Glibc
import ProbeBase
import ProbeSystem
import Synchronization

/// One process of an adapter's program, which serves one case after another.
///
/// A separate thread reads, writes and polls the pipes. No call blocks; requests are queued up to a limit. If the
/// program violates the protocol, the process has *failed*: every waiting caller receives the reason, and the program
/// is ended together with all its descendants.
final class AdapterProcess: Sendable {
    /// The limits for a process. Tests may set other values.
    struct Limits: Sendable {
        var hello: Duration = .seconds(10)
        /// The maximum time to wait for answers to ops of an earlier case, and for the program's exit after its stdin
        /// was closed.
        var patience: Duration = .seconds(2)
        /// The maximum length of a line, in bytes.
        var line = 16 << 20
        /// The maximum number of bytes queued for the program's stdin.
        var queue = 64 << 20
        var budget = AdapterProtocolState.Budget()
    }

    enum RequestedState: Sendable { case serve, quit, kill }

    /// The outcome of starting a process; reported once for each process.
    enum StartOutcome: Sendable {
        /// The process has answered its first op.
        case served
        /// The process ended before it had answered an op.
        case ended(SubjectFailure)
        /// Before it had answered an op, the process sent no `hello` in time, violated the protocol, or stopped
        /// responding.
        case useless(SubjectFailure)
    }

    typealias Handler = @Sendable (SubjectReport) -> Void
    typealias Ready = @Sendable (Result<AdapterHello, SubjectFailure>) -> Void

    struct State {
        var protocolState: AdapterProtocolState
        var requested = RequestedState.serve
        var failure: SubjectFailure?
        var hasEnded = false
        /// The program and every process that it has started, while the program runs.
        var processes: ProcessTree?
        /// Whether a ``StartOutcome`` has been reported.
        var hasBegun = false
        /// The last case that the process served.
        var lastCase: String?
        var queue: [[UInt8]] = []
        var queued = 0
        var replies: [Int: @Sendable (SubjectReply) -> Void] = [:]
        var handler: Handler?
        /// The closure to call when the program is ready for a case.
        var ready: Ready?
        /// The receivers of late reports, indexed by the case's number.
        var lateReportHandlers: [(any LateReportHandler)?] = []
        var endings: [@Sendable () -> Void] = []
        var tail = StderrTail()
    }

    let command: AdapterCommandLine
    let limits: Limits
    /// The network that the program runs in; `nil` for the run's network.
    let place: ProgramPlace?
    let state: Mutex<State>
    let wake: WakeDescriptor
    let reportStartOutcome: @Sendable (StartOutcome) -> Void

    /// Starts the program and its thread. The callback of the first ``prepare(_:)`` receives the result.
    ///
    /// - Parameter reportStartOutcome: called once, on any thread, before any other callback receives the outcome.
    init(
        _ command: AdapterCommandLine, limits: Limits, in place: ProgramPlace? = nil,
        reportStartOutcome: @escaping @Sendable (StartOutcome) -> Void
    ) throws(SubjectFailure) {
        self.command = command
        self.limits = limits
        self.place = place
        self.reportStartOutcome = reportStartOutcome
        state = Mutex(State(protocolState: AdapterProtocolState(budget: limits.budget)))
        do throws(SystemError) {
            wake = try WakeDescriptor()
            try WorkerThread("adapter", signals: .inherited) { [self] in AdapterLoop(self).run() }.detach()
        } catch {
            throw SubjectFailure("the adapter `\(command.shown)` can't be started: \(error.reason)")
        }
    }

    // MARK: Cases

    /// Calls back when the program is ready for the next case, that is, when it has sent `hello` and answered all ops
    /// of earlier cases.
    func prepare(_ ready: @escaping Ready) {
        let now: Result<AdapterHello, SubjectFailure>? = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            if let hello = state.protocolState.hello, state.protocolState.pending.isEmpty { return .success(hello) }
            state.ready = ready
            return nil
        }
        if let now { ready(now) } else { wake.wake() }
    }

    /// Begins a case. The case's events are passed to `handler`.
    func beginCase(_ handler: @escaping Handler) {
        let failure = state.withLock { state in
            state.protocolState.beginCase()
            state.handler = handler
            return state.failure
        }
        if let failure { handler(SubjectReport(connection: 0, event: .broken(failure), time: .now)) }
    }

    /// Ends the case: nothing more is reported, and connections that the case left open are stopped.
    ///
    /// - Parameter late: the receiver of reports about the case's connections after their `stop`.
    /// - Returns: whether the process can serve another case.
    func endCase(late: (any LateReportHandler)? = nil) -> Bool {
        let canServe = state.withLock { state in
            state.handler = nil
            let lines = state.protocolState.endCase()
            state.lateReportHandlers.append(late)
            if !lines.isEmpty { enqueue(lines, &state) }
            return state.failure == nil && !state.protocolState.isExhausted
        }
        wake.wake()
        return canServe
    }

    /// Sends one op of the current case to the process.
    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        if case .send(let message, _) = operation, message.count > AdapterRequest.messageLimit {
            reply(
                .broken(
                    SubjectFailure(
                        "the message has \(message.count) bytes, but the adapter protocol allows at most 2 MiB")))
            return
        }
        let failure: SubjectFailure? = state.withLock { state in
            if let failure = state.failure { return failure }
            if state.queued > limits.queue {
                return SubjectFailure(
                    "the adapter does not read its stdin: \(state.queued) bytes are unread", details: state.tail.details
                )
            }
            guard let request = state.protocolState.request(operation, on: connection) else {
                return SubjectFailure("the case used too many connections for one adapter")
            }
            state.replies[request.id] = reply
            enqueue(request.line, &state)
            return nil
        }
        if let failure { reply(.broken(failure)) } else { wake.wake() }
    }

    private func enqueue(_ line: [UInt8], _ state: inout State) {
        state.queue.append(line)
        state.queued += line.count
    }

    /// Returns the failure to report if an op is not answered in time.
    func silence() -> SubjectFailure? {
        let (failure, isBeginning): (SubjectFailure?, Bool) = state.withLock { state in
            if let failure = state.failure { return (failure, false) }
            guard let oldest = state.protocolState.pending.first else { return (nil, false) }
            var details: [String] = []
            if state.queued > 0 {
                details.append("it left \(ByteText.count(state.queued, "byte")) unread on its stdin")
            }
            let failure = SubjectFailure(
                "the adapter `\(command.shown)` did not answer the op `\(oldest.name)` (id \(oldest.id)) in time",
                details: details + state.tail.details)
            defer { state.hasBegun = true }
            return (failure, !state.hasBegun)
        }
        if isBeginning, let failure { reportStartOutcome(.useless(failure)) }
        return failure
    }

    /// The program and every process that it has started; `nil` before the program starts and after it has ended.
    var processes: ProcessTree? { state.withLock { $0.processes } }

    /// The last case that the process served; `nil` before the first case.
    var lastCase: String? { state.withLock { $0.lastCase } }

    /// Records the case that the process now serves.
    func serve(_ id: String) {
        state.withLock { $0.lastCase = id }
    }

    // MARK: The end

    /// Ends the process and its whole process group, either at once (`kill`) or by closing its stdin and waiting a
    /// short time (`quit`).
    func end(_ requested: RequestedState) {
        state.withLock { state in
            state.handler = nil
            if state.requested != .kill { state.requested = requested }
        }
        wake.wake()
    }

    /// Calls back when the process and all its descendants have ended.
    func whenEnded(_ call: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.hasEnded { state.endings.append(call) }
            return state.hasEnded
        }
        if isOver { call() }
    }
}

/// A command line that was split into words and whose program was found.
struct AdapterCommandLine: Sendable {
    /// The command line as the user wrote it.
    var text: String
    var words: [String]
    var path: String

    /// The command line, escaped for messages.
    var shown: String { Escaped.foreignText(text.utf8, limit: 120) }
}

/// The part of the type that the serving thread (``AdapterLoop``) uses.
extension AdapterProcess {
    var requested: RequestedState { state.withLock { $0.requested } }

    var isWaitingForHello: Bool { state.withLock { $0.protocolState.hello == nil && $0.requested == .serve } }

    /// Whether a caller is waiting for the next case to begin while ops of the previous case are unanswered.
    var waitsForOlderOps: Bool { state.withLock { $0.ready != nil && $0.protocolState.hello != nil } }

    /// Removes all queued lines, and returns them as one array.
    func takeQueue() -> [UInt8] {
        state.withLock { state in
            defer { state.queue = [] }
            return state.queue.count == 1 ? state.queue[0] : Array(state.queue.joined())
        }
    }

    func wrote(_ count: Int) {
        state.withLock { $0.queued -= count }
    }

    /// Passes a message from the program to its receiver.
    ///
    /// - Throws: an error that describes what is wrong with the message.
    func receive(_ message: AdapterMessage) throws(AdapterMessageError) {
        let time = MonotonicTime.now
        let calls = try state.withLock { (state) throws(AdapterMessageError) -> [@Sendable () -> Void] in
            var calls: [@Sendable () -> Void] = []
            func answer(_ id: Int, _ reply: SubjectReply) {
                if !state.hasBegun {
                    state.hasBegun = true
                    calls.append { [reportStartOutcome] in reportStartOutcome(.served) }
                }
                if let call = state.replies.removeValue(forKey: id) { calls.append { call(reply) } }
            }
            func failure(_ fault: MachineError, _ detail: String?) -> SubjectFailure {
                let pids = state.processes.map { Array($0.members()) } ?? []
                return SubjectFailure("the adapter `\(command.shown)`", met: fault, detail: detail, pids: pids)
            }
            switch try state.protocolState.receive(message) {
            case .reply(let id, let reply): answer(id, reply)
            case .refusedFor(let id, let fault, let code): answer(id, .broken(failure(fault, code)))
            case .machineError(let connection, let fault, let detail):
                if let handler = state.handler {
                    let event = SubjectReport.Event.broken(failure(fault, detail))
                    calls.append { handler(SubjectReport(connection: connection, event: event, time: time)) }
                }
            case .report(let connection, let event):
                if let handler = state.handler {
                    calls.append { handler(SubjectReport(connection: connection, event: event, time: time)) }
                }
            case .late(let number, let connection, let event):
                if let listener = state.lateReportHandlers[number] {
                    calls.append {
                        listener.handleLateReport(SubjectReport(connection: connection, event: event, time: time))
                    }
                }
            case .ready, .stale: break
            }
            if let ready = state.ready, let hello = state.protocolState.hello, state.protocolState.pending.isEmpty {
                state.ready = nil
                calls.append { ready(.success(hello)) }
            }
            return calls
        }
        for call in calls { call() }
    }

    /// Handles bytes that the program wrote to stderr.
    func printed(_ bytes: ArraySlice<UInt8>) {
        report { $0.append(bytes) }
    }

    /// Handles the last bytes on stderr, which are not followed by a line feed.
    func printedLast() {
        report { $0.finish() }
    }

    private func report(_ lines: (inout StderrTail) -> [[UInt8]]) {
        let (finished, handler) = state.withLock { (lines(&$0.tail), $0.handler) }
        guard let handler else { return }
        for line in finished { handler(SubjectReport(connection: 0, event: .output(line), time: .now)) }
    }

    /// Records a failure of the program, and reports it to every waiting caller. Only the first failure is recorded.
    ///
    /// - Parameter isEnd: whether the failure is that the program ended or closed a pipe.
    func fail(_ failure: SubjectFailure, isEnd: Bool = false) {
        let (isBeginning, replies, handler, ready) = state.withLock { state in
            let isBeginning = state.failure == nil && !state.hasBegun && state.requested == .serve
            if isBeginning { state.hasBegun = true }
            if state.failure == nil { state.failure = failure }
            defer { (state.replies, state.ready) = ([:], nil) }
            return (isBeginning, state.replies, state.handler, state.ready)
        }
        if isBeginning { reportStartOutcome(isEnd ? .ended(failure) : .useless(failure)) }
        ready?(.failure(failure))
        handler?(SubjectReport(connection: 0, event: .broken(failure), time: .now))
        for (_, reply) in replies.sorted(by: { $0.key < $1.key }) { reply(.broken(failure)) }
    }

    func hasStarted(_ processes: ProcessTree) {
        state.withLock { $0.processes = processes }
    }

    func hasEnded() {
        let (endings, isFailed) = state.withLock { state in
            state.hasEnded = true
            state.processes = nil
            defer { state.endings = [] }
            return (state.endings, state.failure != nil)
        }
        if !isFailed { fail(SubjectFailure("the adapter `\(command.shown)` was terminated")) }
        for ending in endings { ending() }
    }
}
