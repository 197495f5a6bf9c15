/// The result of `explore` or `shrink` for a case: how many variations or faults were tried, and which scenarios were
/// written.
package struct Exploration: Sendable, Equatable {
    /// The condition that must hold for every candidate, which is a variation or a fault.
    package enum Law: String, Sendable {
        /// Variations that do not change the byte stream must not change the verdict.
        case stream
        /// A program must survive whatever the other side does.
        case faults
    }

    /// Statistics about the candidates, which are variations or faults.
    package struct Counts: Sendable, Equatable {
        package var law: Law
        /// The number of variations or faults that were run.
        package var tried: Int
        /// The number of places at which a single cut or a fault was possible but was not tried.
        package var left: Int
        /// The number of tried variations or faults that neither passed nor failed.
        package var inconclusive: Int
        /// Whether all variations or faults were tried.
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

    /// A minimal scenario that was written.
    package struct WrittenScenario: Sendable, Equatable {
        package var path: String
        /// A description of what makes the written scenario fail.
        package var sentence: String
        /// The captures of a failed run and of a passed run, in this order, if they exist.
        package var captures: [String]
        /// The number of runs in which the written scenario failed.
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

    /// The counts; `nil` for `shrink`, and if nothing was tried.
    package var counts: Counts?
    package var written: [WrittenScenario]

    package init(counts: Counts?, written: [WrittenScenario]) {
        self.counts = counts
        self.written = written
    }

    /// The result as names and values, for reports that consist of lines.
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
