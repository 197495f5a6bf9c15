import Synchronization

/// The names of a run's subjects. Each name is unique.
///
/// Subjects with the same name are numbered in the order of the command line, not in the order in which their programs
/// send their names, because the reports of a run must not depend on timing.
package final class SubjectNames: Sendable {
    /// A subject's place in the order of the command line.
    package struct Place: Sendable {
        fileprivate let index: Int
    }

    private struct State {
        /// The name that the subject at each place requests; `nil` until that name is known.
        var wanted: [String?] = []
        /// The unique name that the subject at each place was given.
        var given: [String?] = []

        mutating func give() {
            var taken: Set<String> = []
            given = wanted.map { name in
                guard let name else { return nil }
                if taken.insert(name).inserted { return name }
                var number = 2
                while !taken.insert("\(name)-\(number)").inserted { number += 1 }
                return "\(name)-\(number)"
            }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Reserves the next place, for a subject whose name is not known yet.
    package func reserve() -> Place {
        state.withLock { state in
            state.wanted.append(nil)
            state.given.append(nil)
            return Place(index: state.wanted.count - 1)
        }
    }

    /// Sets the name that the subject requests. Calls after the first one have no effect.
    package func introduce(_ place: Place, as name: String) {
        state.withLock { state in
            guard state.wanted[place.index] == nil else { return }
            state.wanted[place.index] = name
            state.give()
        }
    }

    /// Returns the subject's name, with a number (`bsd-2`) if a subject at an earlier place has the same name; `nil`
    /// until the subject has been introduced.
    ///
    /// The name is final once all subjects of the run have been introduced.
    package func name(at place: Place) -> String? {
        state.withLock { $0.given[place.index] }
    }

    /// Reserves the next place for a subject whose name is known, and returns its unique name.
    package func reserve(_ name: String) -> String {
        let place = reserve()
        introduce(place, as: name)
        return self.name(at: place) ?? name
    }
}
