import ProbeBase
import ProbeSystem
import Synchronization

/// What the serving thread reads and reports.
extension AdapterProcess {
    var requested: RequestedState { state.withLock { $0.requested } }

    var isWaitingForHello: Bool { state.withLock { $0.protocolState.hello == nil && $0.requested == .serve } }

    /// Somebody waits for the next case to begin, and the one before has left ops unanswered.
    var waitsForOlderOps: Bool { state.withLock { $0.ready != nil && $0.protocolState.hello != nil } }

    /// All that waits to be written, as one piece.
    func takeQueue() -> [UInt8] {
        state.withLock { state in
            defer { state.queue = [] }
            return state.queue.count == 1 ? state.queue[0] : Array(state.queue.joined())
        }
    }

    func wrote(_ count: Int) {
        state.withLock { $0.queued -= count }
    }

    /// Passes on what it said to whom it concerns.
    ///
    /// - Throws: what is wrong with it.
    func receive(_ message: AdapterMessage) throws(AdapterMessageError) {
        let time = MonotonicTime.now
        let calls = try state.withLock { (state) throws(AdapterMessageError) -> [@Sendable () -> Void] in
            var calls: [@Sendable () -> Void] = []
            switch try state.protocolState.receive(message) {
            case .reply(let id, let reply):
                if let call = state.replies.removeValue(forKey: id) { calls.append { call(reply) } }
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

    /// It wrote to stderr.
    func printed(_ bytes: ArraySlice<UInt8>) {
        report { $0.append(bytes) }
    }

    /// What it wrote last, without a line feed.
    func printedLast() {
        report { $0.finish() }
    }

    private func report(_ lines: (inout StderrTail) -> [[UInt8]]) {
        let (finished, handler) = state.withLock { (lines(&$0.tail), $0.handler) }
        guard let handler else { return }
        for line in finished { handler(SubjectReport(connection: 0, event: .output(line), time: .now)) }
    }

    /// It does not do its part; everybody who waits is told. The first failure counts.
    func fail(_ failure: SubjectFailure) {
        let (replies, handler, ready) = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { (state.replies, state.ready) = ([:], nil) }
            return (state.replies, state.handler, state.ready)
        }
        ready?(.failure(failure))
        handler?(SubjectReport(connection: 0, event: .broken(failure), time: .now))
        for (_, reply) in replies.sorted(by: { $0.key < $1.key }) { reply(.broken(failure)) }
    }

    func hasEnded() {
        let (endings, isFailed) = state.withLock { state in
            state.hasEnded = true
            defer { state.endings = [] }
            return (state.endings, state.failure != nil)
        }
        if !isFailed { fail(SubjectFailure("the adapter `\(command.shown)` has been ended")) }
        for ending in endings { ending() }
    }
}
