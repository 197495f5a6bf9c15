import ProbeBase
import ProbeEvents
import ProbeSystem

/// Emits the results of the cases that one reactor runs, in order. If the subject of a case may still report something,
/// the case's result is held back for a few milliseconds, during which the next case already runs.
///
/// This type is confined to its reactor's thread.
final class ResultLine {
    private let reactor: Reactor
    private let emit: (CaseResult) -> Void
    private var held: [(result: CaseResult, lateReports: LateReportCollector?, due: MonotonicTime)] = []
    private var emptied: CheckedContinuation<Void, Never>?

    init(on reactor: Reactor, emit: @escaping (CaseResult) -> Void) {
        self.reactor = reactor
        self.emit = emit
    }

    /// Adds a result.
    ///
    /// - Parameter due: the time until which the result is held back.
    func add(_ result: CaseResult, _ lateReports: LateReportCollector?, due: MonotonicTime) {
        held.append((result, lateReports, due))
        if held.count == 1 { advance() }
    }

    /// Waits until all results have been emitted.
    func drain() async {
        await withCheckedContinuation { continuation in
            // `held` is checked inside the closure, because the reactor may fire timers before the task suspends. A
            // continuation stored after the last result would never be resumed.
            if held.isEmpty { continuation.resume() } else { emptied = continuation }
        }
    }

    private func advance() {
        while let first = held.first {
            if first.due > .now {
                reactor.schedule(at: first.due) { self.advance() }
                return
            }
            held.removeFirst()
            emit(first.lateReports?.settle(first.result) ?? first.result)
        }
        emptied?.resume()
        emptied = nil
    }
}
