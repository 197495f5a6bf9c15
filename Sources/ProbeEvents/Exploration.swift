/// What `explore` or `shrink` tried of a case, and what it wrote.
package struct Exploration: Sendable, Equatable {
    /// What has to hold of each try.
    package enum Law: String, Sendable {
        /// Variations that keep the stream keep the verdict.
        case stream
        /// A program survives whatever the other side does.
        case faults
    }

    /// How much was tried.
    package struct Counts: Sendable, Equatable {
        package var law: Law
        /// Variations or faults that were run.
        package var tried: Int
        /// Places that were not tried: of single cuts, or of faults.
        package var left: Int
        /// Of the tried ones: those that were neither a pass nor a failure.
        package var inconclusive: Int
        /// There are no others.
        package var isExhausted: Bool
        package var seed: Int

        package init(law: Law, tried: Int, left: Int, inconclusive: Int, isExhausted: Bool, seed: Int) {
            self.law = law
            self.tried = tried
            self.left = left
            self.inconclusive = inconclusive
            self.isExhausted = isExhausted
            self.seed = seed
        }
    }

    /// A smallest scenario that was written.
    package struct WrittenScenario: Sendable, Equatable {
        package var path: String
        /// What makes it fail.
        package var sentence: String
        /// Of a run that failed, then of one that passed, as far as there are any.
        package var captures: [String]
        /// How often it failed when it was run as it was written.
        package var failed: Int
        package var runs: Int

        package init(path: String, sentence: String, captures: [String], failed: Int, runs: Int) {
            self.path = path
            self.sentence = sentence
            self.captures = captures
            self.failed = failed
            self.runs = runs
        }
    }

    /// Nil for `shrink`, and where nothing was tried.
    package var counts: Counts?
    package var written: [WrittenScenario]

    package init(counts: Counts?, written: [WrittenScenario]) {
        self.counts = counts
        self.written = written
    }

    /// Names and values for a report that has lines.
    package var facts: [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = []
        if let counts {
            facts = [
                ("law", counts.law.rawValue), ("tried", "\(counts.tried)"), ("left", "\(counts.left)"),
                ("inconclusive", "\(counts.inconclusive)"), ("exhausted", counts.isExhausted ? "yes" : "no"),
                ("seed", "\(counts.seed)"),
            ]
        }
        for scenario in written {
            facts.append(("smallest", scenario.path))
            facts.append(("smallest fails", "\(scenario.failed) of \(scenario.runs) runs"))
            facts += scenario.captures.map { ("capture of smallest", $0) }
        }
        return facts
    }
}
