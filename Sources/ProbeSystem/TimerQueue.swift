package import ProbeBase
import HeapModule

/// Deadlines, each with an action. The queue has no clock: times are passed as arguments.
package struct TimerQueue {
    package struct ID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry: Comparable {
        let deadline: MonotonicTime
        let number: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.deadline, left.number) < (right.deadline, right.number)
        }
    }

    private var heap = Heap<Entry>()
    private var actions: [UInt64: () -> Void] = [:]
    private var nextNumber: UInt64 = 0

    package init() {}

    /// The number of pending timers.
    package var count: Int { actions.count }

    package mutating func add(_ deadline: MonotonicTime, _ action: @escaping () -> Void) -> ID {
        nextNumber += 1
        heap.insert(Entry(deadline: deadline, number: nextNumber))
        actions[nextNumber] = action
        return ID(number: nextNumber)
    }

    package mutating func cancel(_ id: ID) {
        actions[id.number] = nil
        // A cancelled entry is removed when it becomes due. When cancelled entries outnumber the live ones, all of them
        // are removed, so that memory does not grow if a run sets and cancels a deadline at every step.
        if heap.count > 64 && heap.count > 2 * actions.count {
            heap = Heap(heap.unordered.filter { actions[$0.number] != nil })
        }
    }

    package var nextDeadline: MonotonicTime? {
        mutating get {
            while let first = heap.min, actions[first.number] == nil { heap.removeMin() }
            return heap.min?.deadline
        }
    }

    /// Removes and returns the action of the earliest timer that is due. Timers with equal deadlines are returned in
    /// the order in which they were added.
    package mutating func popDue(at now: MonotonicTime) -> (() -> Void)? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        let entry = heap.removeMin()
        return actions.removeValue(forKey: entry.number)
    }
}
