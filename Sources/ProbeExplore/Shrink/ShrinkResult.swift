/// The smallest failing candidate that was found, and what was learned on the way.
package struct ShrinkResult: Sendable {
    package var candidate: Candidate
    /// How often it failed in its last runs.
    package var rate: FailureRate
    /// By the number of a send: what came of each single cut of it, with the pause of the result.
    package var cutTables: [Int: CutTable] = [:]
    /// The time for leaving out steps was over: others may be left that are not needed.
    package var hasReachedDeadline = false
    /// Nothing that comes before the failing step was left out: no run could show that a correct program passes without it.
    package var keepsPremises = false
    /// A smaller scenario was found, but it did not pass each time where it must, and was dropped.
    package var hasUnsureReduction = false

    package init(candidate: Candidate, rate: FailureRate, cutTables: [Int: CutTable] = [:]) {
        self.candidate = candidate
        self.rate = rate
        self.cutTables = cutTables
    }

    /// The single cuts of one send.
    package struct CutTable: Sendable, Equatable {
        /// Those that failed in the same way, rising.
        package var failing: [Int]
        /// Those that failed in another way, rising.
        package var failingOtherwise: [Int] = []
        /// Those that passed often enough, rising.
        package var passing: [Int]

        package init(failing: [Int] = [], passing: [Int] = []) {
            self.failing = failing
            self.passing = passing
        }

        /// All that failed, rising.
        package var allFailing: [Int] { (failing + failingOtherwise).sorted() }

        /// The places that passed, on both sides of the failing ones around an offset.
        package func passing(beside offset: Int) -> [Int] {
            guard let row = Self.rows(allFailing).first(where: { $0.contains(offset) }) else { return [] }
            return [row.lowerBound - 1, row.upperBound + 1].filter(passing.contains)
        }

        /// Numbers as rows of neighbours.
        package static func rows(_ numbers: [Int]) -> [ClosedRange<Int>] {
            var rows: [ClosedRange<Int>] = []
            for number in numbers {
                if let last = rows.last, last.upperBound + 1 == number {
                    rows[rows.count - 1] = last.lowerBound...number
                } else {
                    rows.append(number...number)
                }
            }
            return rows
        }
    }
}
