import Synchronization

/// The names of a run's subjects, each of its own.
///
/// Two of one name are numbered in the order of the command line, whichever introduces itself first: a run's reports must not depend on that.
package final class SubjectNames: Sendable {
    /// A subject's place in the order of the command line.
    package struct Place: Sendable {
        fileprivate let index: Int
    }

    private struct State {
        /// By place: what its subject calls itself; nil until it has said it.
        var wanted: [String?] = []
        /// By place: what it is called.
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

    /// The next place: of a subject whose name is not known yet.
    package func reserve() -> Place {
        state.withLock { state in
            state.wanted.append(nil)
            state.given.append(nil)
            return Place(index: state.wanted.count - 1)
        }
    }

    /// What the subject calls itself. The first word counts.
    package func introduce(_ place: Place, as name: String) {
        state.withLock { state in
            guard state.wanted[place.index] == nil else { return }
            state.wanted[place.index] = name
            state.give()
        }
    }

    /// The subject's name, or where an earlier place has it, the name with a number: `bsd-2`. Nil before it was introduced.
    ///
    /// It holds from when all subjects of the run have been introduced.
    package func name(at place: Place) -> String? {
        state.withLock { $0.given[place.index] }
    }

    /// The next place, for a subject whose name is known: that name, or with a number.
    package func reserve(_ name: String) -> String {
        let place = reserve()
        introduce(place, as: name)
        return self.name(at: place) ?? name
    }
}
