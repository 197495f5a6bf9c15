/// The smallest failing candidate that was found, and what was learned on the way.
package struct ShrinkResult: Sendable {
    package var candidate: Candidate
    /// How often it failed in its last runs.
    package var rate: FailureRate
    /// By the number of a send: what came of each single cut of it, with the pause of the result.
    package var cutTables: [Int: CutTable] = [:]

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
    }
}
