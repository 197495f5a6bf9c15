/// The smallest failing candidate that was found, and what was learned along the way.
package struct ShrinkResult: Sendable {
    package var candidate: Candidate
    /// The failure rate in its last runs.
    package var rate: FailureRate
    /// The outcomes of all single cuts of a send, with the result's pause, by the number of the send.
    package var cutTables: [Int: CutTable] = [:]
    /// Whether the time for leaving out steps has expired, so that unnecessary steps may remain.
    package var hasReachedDeadline = false
    /// Whether everything before the failing step was kept because no run could show that a correct program passes
    /// without it.
    package var keepsPremises = false
    /// Whether a smaller scenario was found but discarded, because it did not pass every time when it should.
    package var hasUnsureReduction = false

    package init(candidate: Candidate, rate: FailureRate, cutTables: [Int: CutTable] = [:]) {
        self.candidate = candidate
        self.rate = rate
        self.cutTables = cutTables
    }

    /// The outcomes of the single cuts of one send.
    package struct CutTable: Sendable, Equatable {
        /// The offsets that failed in the same way, in ascending order.
        package var failing: [Int]
        /// The offsets that failed in another way, in ascending order.
        package var failingDifferently: [Int] = []
        /// The offsets that passed often enough, in ascending order.
        package var passing: [Int]

        package init(failing: [Int] = [], passing: [Int] = []) {
            self.failing = failing
            self.passing = passing
        }

        /// All offsets that failed, in ascending order.
        package var allFailing: [Int] { (failing + failingDifferently).sorted() }

        /// Returns the passing offsets on both sides of the failing range that contains an offset.
        package func passing(around offset: Int) -> [Int] {
            guard let row = Self.rows(allFailing).first(where: { $0.contains(offset) }) else { return [] }
            return [row.lowerBound - 1, row.upperBound + 1].filter(passing.contains)
        }

        /// Returns numbers as ranges of consecutive numbers.
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
