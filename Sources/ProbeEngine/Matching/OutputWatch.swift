import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// Searches a program's output for the script's patterns before the output is dropped, so that later expectations about
/// the output are still decided correctly.
///
/// A line in which an `expect output` may still find a match is kept. For a pattern of `expect no output`, only the
/// first match is recorded.
///
/// This type is confined to the case's reactor.
final class OutputWatch {
    private struct Key: Hashable {
        var source: String
        var ignoresCase: Bool
    }

    private struct Entry {
        let regex: ByteRegex
        /// The index of the first line that was searched for the pattern before the line was dropped. All later lines
        /// were searched, too.
        let firstSearched: Int
        /// Whether lines that match the pattern are kept for an `expect output`.
        var isWanted: Bool
        /// The first dropped line that matches the pattern.
        var found: Found?
    }

    /// A line that matches a pattern.
    struct Found {
        let line: [UInt8]
        /// The time at which the last byte of the match was read.
        let time: MonotonicTime
        /// The index of the line in the output log; `nil` if the line is no longer kept.
        let number: Int?

        init(line: [UInt8], time: MonotonicTime, number: Int? = nil) {
            self.line = Array(line.prefix(4096))
            self.time = time
            self.number = number
        }
    }

    /// The patterns that the script uses for this program.
    private let literals: [(literal: RegexLiteral, isWanted: Bool)]
    private var entries: [Key: Entry] = [:]
    /// The maximum number of entries. A pattern that contains a variable takes one entry for each of the variable's
    /// values.
    private static let maxEntries = 256

    init(_ literals: [(literal: RegexLiteral, isWanted: Bool)]) {
        self.literals = literals
    }

    /// Adds a pattern.
    ///
    /// - Parameter line: the index of the first line to search for the pattern.
    func add(_ regex: ByteRegex, isWanted: Bool, from line: Int) {
        let key = Key(source: regex.source, ignoresCase: regex.ignoresCase)
        if entries[key] != nil {
            if isWanted { entries[key]?.isWanted = true }
        } else if entries.count < Self.maxEntries {
            entries[key] = Entry(regex: regex, firstSearched: line, isWanted: isWanted)
        }
    }

    /// Searches lines that are about to be dropped from the log.
    ///
    /// - Parameters:
    ///   - cursor: the position at which the search of the next `expect output` begins.
    ///   - compute: returns the regex for a pattern of the script; `nil` if the pattern's variables are not bound.
    /// - Returns: for each line, whether it is kept.
    func search(
        _ lines: ArraySlice<OutputLog.Line>, _ first: Int, _ cursor: OutputCursor,
        compute: (RegexLiteral) -> ByteRegex?
    ) -> [Bool] {
        for (literal, isWanted) in literals {
            if let regex = literal.compiled ?? compute(literal) { add(regex, isWanted: isWanted, from: first) }
        }
        var isKept: [Bool] = []
        for (offset, line) in lines.enumerated() {
            let index = first + offset
            let isAhead = index >= cursor.line || cursor.unfinished[index] != nil
            var keeps = false
            for (key, entry) in entries where entry.found == nil || (isAhead && entry.isWanted && !keeps) {
                // An unfinished line stays in the log and is searched when it has ended.
                guard line.isComplete, let match = OutputSearch.match(entry.regex, line, index, 0) else { continue }
                if entry.found == nil { entries[key]?.found = Found(line: line.bytes, time: match.time) }
                if isAhead && entry.isWanted { keeps = true }
            }
            isKept.append(keeps)
        }
        return isKept
    }

    /// Returns the first line that matched the pattern and has been dropped.
    func found(_ regex: ByteRegex) -> Found? { entry(regex)?.found }

    /// Whether all dropped lines, from `line` on, were searched for the pattern.
    func hasSearched(_ regex: ByteRegex, from line: Int, in log: OutputLog) -> Bool {
        log.dropped <= line || (entry(regex)?.firstSearched ?? .max) <= line
    }

    private func entry(_ regex: ByteRegex) -> Entry? {
        entries[Key(source: regex.source, ignoresCase: regex.ignoresCase)]
    }

    /// Returns the patterns that a script uses for a program. A pattern in a definition occurs once in the result.
    static func literals(of scenario: Scenario, for name: String) -> [(literal: RegexLiteral, isWanted: Bool)] {
        var found: [(literal: RegexLiteral, isWanted: Bool)] = []
        func visit(_ steps: [Step]) {
            for step in steps {
                switch step.kind {
                case .act(let actor, .process(.expect(.output(let literal))), _) where actor.value == name:
                    found.append((literal, true))
                case .act(let actor, .process(.expect(.noOutput(let literal, _))), _) where actor.value == name:
                    found.append((literal, false))
                case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
                    .finally(let block), .whenever(_, _, let block):
                    visit(block.steps)
                case .either(let blocks): for block in blocks { visit(block.steps) }
                default: break
                }
            }
        }
        visit(scenario.steps)
        for definition in scenario.definitions.values { visit(definition.steps) }
        return found
    }
}
