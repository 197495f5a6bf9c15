package import ProbeEvents
package import ProbeScenario

/// What a subject came to, by level.
///
/// A case is judged when it passed, failed, or ended in `error` or `inconclusive`: judged cases are the denominators, and of
/// them only `passed` ones count, whatever an expectations file says. What the subject can't do, what was skipped and what
/// was not run is out of the denominators, and counted apart. A case that was repeated passed when it did so in every round.
package struct Score: Sendable, Equatable {
    package var passed: [Scenario.Level: Int] = [:]
    package var judged: [Scenario.Level: Int] = [:]
    package var unsupported = 0
    package var skipped = 0
    package var notRun = 0

    package init() {}

    /// - Parameter verdict: nil: it was not run.
    package mutating func count(_ verdict: Verdict?, level: Scenario.Level) {
        switch verdict {
        case nil: notRun += 1
        case .unsupported?: unsupported += 1
        case .skipped?: skipped += 1
        case .passed?:
            judged[level, default: 0] += 1
            passed[level, default: 0] += 1
        case .failed?, .error?, .inconclusive?: judged[level, default: 0] += 1
        }
    }

    /// Of all levels.
    package var allPassed: Int { passed.values.reduce(0, +) }
    /// Of all levels.
    package var allJudged: Int { judged.values.reduce(0, +) }

    /// The levels that have judged cases; `must` where none has.
    package var levels: [Scenario.Level] {
        let levels = Scenario.Level.allCases.filter { judged[$0, default: 0] > 0 }
        return levels.isEmpty ? [.must] : levels
    }

    /// `108 of 110 must, 14 of 16 should, 3 unsupported, 2 of 3 may`: levels and counts that there are none of are left out.
    package var text: String {
        func part(_ level: Scenario.Level) -> String {
            "\(passed[level] ?? 0) of \(judged[level] ?? 0) \(level.rawValue)"
        }
        var parts = levels.filter { $0 != .may }.map(part)
        if unsupported > 0 { parts.append("\(unsupported) unsupported") }
        // Behind what counts: where both ways are right, nothing is to be boasted of.
        if levels.contains(.may) { parts.append(part(.may)) }
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if notRun > 0 { parts.append("\(notRun) not run") }
        return parts.joined(separator: ", ")
    }
}
