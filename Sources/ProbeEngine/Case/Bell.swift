/// Wakes whoever waits for something to change in a case.
///
/// Confined to the reactor's thread: endpoints ring it, steps wait on it and look again.
final class Bell {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var next = 0

    func add(_ continuation: CheckedContinuation<Void, Never>) -> Int {
        next += 1
        waiting[next] = continuation
        return next
    }

    /// Wakes one waiter; it may have been woken already.
    func wake(_ number: Int) {
        waiting.removeValue(forKey: number)?.resume()
    }

    func ring() {
        if waiting.isEmpty { return }
        let woken = waiting
        waiting = [:]
        for continuation in woken.values { continuation.resume() }
    }
}
