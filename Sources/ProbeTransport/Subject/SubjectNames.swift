import Synchronization

/// The names of a run's subjects: each is given once.
package final class SubjectNames: Sendable {
    private let taken = Mutex<Set<String>>([])

    package init() {}

    /// The name, or where it is taken, the name with a number: `bsd-2`.
    package func claim(_ name: String) -> String {
        taken.withLock { taken in
            if taken.insert(name).inserted { return name }
            var number = 2
            while !taken.insert("\(name)-\(number)").inserted { number += 1 }
            return "\(name)-\(number)"
        }
    }
}
