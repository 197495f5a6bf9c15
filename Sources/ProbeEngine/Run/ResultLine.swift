import ProbeBase
import ProbeEvents
import ProbeSystem

/// Emits the results of the cases that one reactor runs, in order. The result of a case whose subject may still report
/// something is held back for a moment, while the next case already runs.
///
/// Confined to its reactor's thread.
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

    /// Returns when all results have been emitted.
    func drain() async {
        await withCheckedContinuation { continuation in
            // Checked here, because the reactor may fire timers before the task suspends, and nothing would resume it
            // then.
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
