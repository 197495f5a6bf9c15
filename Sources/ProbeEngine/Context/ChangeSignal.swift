/// Wakes the steps that are waiting for a change in a case.
///
/// Confined to the reactor's thread. Endpoints notify the signal of each change; waiting steps then check their
/// conditions again.
final class ChangeSignal {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var next = 0

    /// Adds a waiter.
    ///
    /// - Returns: the waiter's number, to be passed to ``notify(_:)``.
    func add(_ continuation: CheckedContinuation<Void, Never>) -> Int {
        next += 1
        waiting[next] = continuation
        return next
    }

    /// Wakes one waiter, unless it has already been woken.
    func notify(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume()
    }

    func notifyAll() {
        if waiting.isEmpty { return }
        let woken = waiting
        waiting = [:]
        for continuation in woken.values { continuation.resume() }
    }
}
