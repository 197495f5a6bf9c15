import ProbeBase
import ProbeSystem
import Synchronization

/// What the serving thread reads and reports.
extension AdapterProcess {
    var requested: RequestedState { state.withLock { $0.requested } }

    var isWaitingForHello: Bool { state.withLock { $0.protocolState.hello == nil && $0.requested == .serve } }

    /// Whether a caller waits for the next case to begin, and ops of the previous case are not answered yet.
    var waitsForOlderOps: Bool { state.withLock { $0.ready != nil && $0.protocolState.hello != nil } }

    /// All bytes that are to be written, as one piece.
    func takeQueue() -> [UInt8] {
        state.withLock { state in
            defer { state.queue = [] }
            return state.queue.count == 1 ? state.queue[0] : Array(state.queue.joined())
        }
    }

    func wrote(_ count: Int) {
        state.withLock { $0.queued -= count }
    }

    /// Passes a message to its receiver.
    ///
    /// - Throws: what is wrong with the message.
    func receive(_ message: AdapterMessage) throws(AdapterMessageError) {
        let time = MonotonicTime.now
        let calls = try state.withLock { (state) throws(AdapterMessageError) -> [@Sendable () -> Void] in
            var calls: [@Sendable () -> Void] = []
            func answer(_ id: Int, _ reply: SubjectReply) {
                if !state.hasBegun {
                    state.hasBegun = true
                    calls.append { [noteBeginning] in noteBeginning(.served) }
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
                if let listener = state.lateListeners[number] {
                    calls.append {
                        listener.heard(SubjectReport(connection: connection, event: event, time: time))
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

    /// The program wrote to stderr.
    func printed(_ bytes: ArraySlice<UInt8>) {
        report { $0.append(bytes) }
    }

    /// The rest of stderr, without a line feed.
    func printedLast() {
        report { $0.finish() }
    }

    private func report(_ lines: (inout StderrTail) -> [[UInt8]]) {
        let (finished, handler) = state.withLock { (lines(&$0.tail), $0.handler) }
        guard let handler else { return }
        for line in finished { handler(SubjectReport(connection: 0, event: .output(line), time: .now)) }
    }

    /// The program does not work as it must; every waiting caller is told. Only the first failure counts.
    ///
    /// - Parameter isEnd: it is that the program has ended, or closed its pipes.
    func fail(_ failure: SubjectFailure, isEnd: Bool = false) {
        let (isBeginning, replies, handler, ready) = state.withLock { state in
            let isBeginning = state.failure == nil && !state.hasBegun && state.requested == .serve
            if isBeginning { state.hasBegun = true }
            if state.failure == nil { state.failure = failure }
            defer { (state.replies, state.ready) = ([:], nil) }
            return (isBeginning, state.replies, state.handler, state.ready)
        }
        if isBeginning { noteBeginning(isEnd ? .ended(failure) : .useless(failure)) }
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
        if !isFailed { fail(SubjectFailure("the adapter `\(command.shown)` has been ended")) }
        for ending in endings { ending() }
    }
}
