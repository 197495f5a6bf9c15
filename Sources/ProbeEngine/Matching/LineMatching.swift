import ProbeScenario

/// Gives each line of `lines in any order` a pattern of its own, by augmenting paths: a line moves to another pattern where that
/// makes room for one that fits nowhere else.
struct LineMatching {
    private let patterns: [(isOptional: Bool, text: ExpectedText)]
    private var lines: [[UInt8]] = []
    /// The line that each pattern has.
    private var lineOf: [Int?]

    init(_ patterns: [(isOptional: Bool, text: ExpectedText)]) {
        self.patterns = patterns
        lineOf = patterns.map { _ in nil }
    }

    /// Whether all that must come has come.
    var isComplete: Bool { !patterns.indices.contains { !patterns[$0].isOptional && lineOf[$0] == nil } }

    /// Patterns without a line.
    var open: [ExpectedText] { patterns.indices.filter { lineOf[$0] == nil }.map { patterns[$0].text } }

    /// The groups of all regexes.
    var bindings: [(String, Value)] {
        patterns.indices.flatMap { index in lineOf[index].flatMap { patterns[index].text.match(lines[$0]) } ?? [] }
    }

    /// - Returns: false when no pattern is left for it.
    mutating func add(_ line: [UInt8]) -> Bool {
        lines.append(line)
        // What must come gets its line before what may.
        for takesOptional in [false, true] {
            var seen: Set<Int> = []
            if place(lines.count - 1, takesOptional, &seen) { return true }
        }
        lines.removeLast()
        return false
    }

    private mutating func place(_ line: Int, _ takesOptional: Bool, _ seen: inout Set<Int>) -> Bool {
        for index in patterns.indices where !seen.contains(index) && patterns[index].text.match(lines[line]) != nil {
            seen.insert(index)
            if let other = lineOf[index] {
                guard place(other, takesOptional, &seen) else { continue }
            } else if patterns[index].isOptional && !takesOptional {
                continue
            }
            lineOf[index] = line
            return true
        }
        return false
    }
}
