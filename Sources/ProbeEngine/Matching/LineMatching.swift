import ProbeScenario

/// Assigns each line of `lines in any order` its own pattern. The assignment is a maximum matching, maintained line by
/// line with augmenting paths, so the order of the patterns doesn't matter.
///
/// Each pattern is compared with each line once. The results are kept as bit sets, so searching for a path among P
/// patterns takes at most P × P / 64 steps.
struct LineMatching {
    private let patterns: [(isOptional: Bool, pattern: ExpectedText)]
    /// The indices of the patterns that are literal text, keyed by the bytes of that text.
    private var texts: [[UInt8]: [Int]] = [:]
    /// The indices of the patterns that must be compared one by one.
    private var others: [Int] = []
    private var lines: [[UInt8]] = []
    /// For each line, the patterns that match it.
    private var fits: [PatternSet] = []
    /// For each pattern, the index of the line assigned to it.
    private var lineOf: [Int?]
    private var free: PatternSet
    private let required: PatternSet
    private var missing: Int

    init(_ patterns: [(isOptional: Bool, pattern: ExpectedText)]) {
        self.patterns = patterns
        lineOf = patterns.map { _ in nil }
        var free = PatternSet(count: patterns.count)
        var required = free
        for (index, pattern) in patterns.enumerated() {
            free.insert(index)
            if !pattern.isOptional { required.insert(index) }
            if let value = pattern.pattern.value {
                texts[value, default: []].append(index)
            } else {
                others.append(index)
            }
        }
        (self.free, self.required) = (free, required)
        missing = patterns.count { !$0.isOptional }
    }

    /// Whether all required lines have arrived.
    var isComplete: Bool { missing == 0 }

    /// The patterns to which no line has been assigned.
    var open: [ExpectedText] { patterns.indices.filter { lineOf[$0] == nil }.map { patterns[$0].pattern } }

    /// The variables bound by the groups of all regexes.
    var bindings: [(String, Value)] {
        patterns.indices.flatMap { index in lineOf[index].flatMap { patterns[index].pattern.match(lines[$0]) } ?? [] }
    }

    /// The number of comparisons that adding a line takes.
    var comparisons: Int { others.count + 1 }

    /// Adds a line and assigns it a pattern.
    ///
    /// - Returns: `false` if no pattern can be assigned to the line.
    mutating func add(_ line: [UInt8]) -> Bool {
        var fitting = PatternSet(count: patterns.count)
        for index in texts[line] ?? [] { fitting.insert(index) }
        for index in others where patterns[index].pattern.fits(line) { fitting.insert(index) }
        lines.append(line)
        fits.append(fitting)
        // Required patterns are assigned lines before optional ones.
        if place(lines.count - 1, in: required) || place(lines.count - 1, in: nil) { return true }
        lines.removeLast()
        fits.removeLast()
        return false
    }

    /// Finds a pattern for a line, reassigning other lines if necessary. The breadth-first search visits each pattern
    /// once.
    ///
    /// - Parameter targets: the patterns at which the path may end; `nil` for all patterns.
    private mutating func place(_ line: Int, in targets: PatternSet?) -> Bool {
        var targets = targets ?? free
        targets.formIntersection(free)
        if targets.isEmpty { return false }
        var unseen = PatternSet(count: patterns.count)
        unseen.insertAll()
        var queue = [line]
        /// For each pattern, the line from which the search reached it.
        var from: [Int: Int] = [:]
        var next = 0
        while next < queue.count {
            let current = queue[next]
            next += 1
            if let end = fits[current].first(in: targets) {
                move(current, to: end, from)
                return true
            }
            for pattern in fits[current].removing(from: &unseen) {
                guard let other = lineOf[pattern] else { continue }
                from[pattern] = current
                queue.append(other)
            }
        }
        return false
    }

    /// Assigns `pattern` to `line`, then the line's previous pattern to the line from which the search reached that
    /// pattern, and so on, up to the new line.
    private mutating func move(_ line: Int, to pattern: Int, _ from: [Int: Int]) {
        free.remove(pattern)
        if !patterns[pattern].isOptional { missing -= 1 }
        var (line, pattern) = (line, pattern)
        while true {
            let before = patternOf[line]
            lineOf[pattern] = line
            patternOf[line] = pattern
            guard let before, let origin = from[before] else { return }
            (line, pattern) = (origin, before)
        }
    }

    private var patternOf: [Int: Int] = [:]
}

/// A set of patterns, stored as bits.
private struct PatternSet {
    private var words: [UInt64]
    private let count: Int

    init(count: Int) {
        self.count = count
        words = Array(repeating: 0, count: (count + 63) / 64)
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    mutating func insert(_ index: Int) { words[index / 64] |= 1 << UInt64(index % 64) }
    mutating func remove(_ index: Int) { words[index / 64] &= ~(1 << UInt64(index % 64)) }
    mutating func insertAll() { for index in 0..<count { insert(index) } }

    mutating func formIntersection(_ other: PatternSet) {
        for number in words.indices { words[number] &= other.words[number] }
    }

    func first(in other: PatternSet) -> Int? {
        for number in words.indices where words[number] & other.words[number] != 0 {
            return number * 64 + (words[number] & other.words[number]).trailingZeroBitCount
        }
        return nil
    }

    /// Removes the patterns of this set from `other`, and returns the removed patterns.
    func removing(from other: inout PatternSet) -> [Int] {
        var found: [Int] = []
        for number in words.indices {
            var bits = words[number] & other.words[number]
            other.words[number] &= ~bits
            while bits != 0 {
                found.append(number * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
        return found
    }
}
