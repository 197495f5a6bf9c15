package import ProbeEvents
package import ProbeScenario

/// The number of cases of each level that a subject passed.
///
/// A case is judged if its verdict is `passed`, `failed`, `error` or `inconclusive`. The denominator is the number of
/// judged cases, and the numerator is the number of passed cases, regardless of any expectations file. Unsupported,
/// skipped and unfinished cases are counted separately. A repeated case counts as passed if every round passed.
package struct Score: Sendable, Equatable {
    package var passed: [Scenario.Level: Int] = [:]
    package var judged: [Scenario.Level: Int] = [:]
    package var unsupported = 0
    package var skipped = 0
    package var notRun = 0

    package init() {}

    /// Counts a case.
    ///
    /// - Parameter verdict: the verdict; `nil` if the case was not run.
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

    /// The number of cases that passed, across all levels.
    package var allPassed: Int { passed.values.reduce(0, +) }
    /// The number of cases that were judged, across all levels.
    package var allJudged: Int { judged.values.reduce(0, +) }

    /// The levels that have judged cases; only `must` if no case was judged.
    package var levels: [Scenario.Level] {
        let levels = Scenario.Level.allCases.filter { judged[$0, default: 0] > 0 }
        return levels.isEmpty ? [.must] : levels
    }

    /// The score as text, such as `108 of 110 must, 14 of 16 should, 3 unsupported, 2 of 3 may`. Levels without judged
    /// cases and counts of zero are omitted.
    package var text: String {
        func part(_ level: Scenario.Level) -> String {
            "\(passed[level] ?? 0) of \(judged[level] ?? 0) \(level.rawValue)"
        }
        var parts = levels.filter { $0 != .may }.map(part)
        if unsupported > 0 { parts.append("\(unsupported) unsupported") }
        // `may` is last, because a case of this level accepts two behaviors, so a high count is not better.
        if levels.contains(.may) { parts.append(part(.may)) }
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if notRun > 0 { parts.append("\(notRun) not run") }
        return parts.joined(separator: ", ")
    }
}
