/// The smallest failing candidate that was found, and the facts about it that a report states.
package struct ShrinkResult: Sendable {
    package var candidate: Candidate
    /// The failure rate of the candidate, as measured by its most recent runs.
    package var rate: FailureRate
    /// For each send, keyed by its number, the outcomes of all its single cuts with the candidate's pause.
    package var cutTables: [Int: CutTable] = [:]
    /// Whether the time limit for removing steps was reached and the scenario may therefore contain unnecessary steps.
    package var hasReachedDeadline = false
    /// Whether all steps before the failing step were kept, because there was no evidence that a correct program passes
    /// without them.
    package var keepsPremises = false
    /// Whether a smaller scenario was found but rejected, because it did not pass in every run in which it was required
    /// to pass.
    package var hasUnsureReduction = false

    package init(candidate: Candidate, rate: FailureRate, cutTables: [Int: CutTable] = [:]) {
        self.candidate = candidate
        self.rate = rate
        self.cutTables = cutTables
    }

    /// The outcomes of the single cuts of one send.
    package struct CutTable: Sendable, Equatable {
        /// The offsets at which a cut caused the same failure, in ascending order.
        package var failing: [Int]
        /// The offsets at which a cut caused a different failure, in ascending order.
        package var failingDifferently: [Int] = []
        /// The offsets at which a cut caused no failure, as confirmed by enough runs, in ascending order.
        package var passing: [Int]

        package init(failing: [Int] = [], passing: [Int] = []) {
            self.failing = failing
            self.passing = passing
        }

        /// All offsets at which a cut caused a failure, in ascending order.
        package var allFailing: [Int] { (failing + failingDifferently).sorted() }

        /// Returns the passing offsets directly before and after the range of failing offsets that contains `offset`.
        package func passing(around offset: Int) -> [Int] {
            guard let row = Self.rows(allFailing).first(where: { $0.contains(offset) }) else { return [] }
            return [row.lowerBound - 1, row.upperBound + 1].filter(passing.contains)
        }

        /// Returns ascending numbers as ranges of consecutive numbers.
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
