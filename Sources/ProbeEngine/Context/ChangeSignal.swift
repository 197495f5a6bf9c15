/// Wakes the steps that wait for a change in a case.
///
/// Confined to the reactor's thread: endpoints notify, and steps wait and check again.
final class ChangeSignal {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var next = 0

    /// Adds a waiter.
    ///
    /// - Returns: the number of the waiter, for ``notify(_:)``.
    func add(_ continuation: CheckedContinuation<Void, Never>) -> Int {
        next += 1
        waiting[next] = continuation
        return next
    }

    /// Wakes one waiter, which may have been woken already.
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
