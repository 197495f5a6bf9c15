import ProbeEvents
import ProbeScenario

/// Selects the entries of a timeline that a report shows in a limited number of lines.
///
/// The selection always contains the failed step and the entries directly before it, each actor's first and last packet
/// and event, and the packets that open and close each connection. The first entry of each kind has the next priority,
/// so that the body of a loop is shown once. A kind is a step of the script, a packet in one direction, or an event of
/// an actor. The remaining lines show the latest entries. A line for each gap states how many entries are omitted.
struct TimelineSelection {
    enum Line: Equatable {
        case entry(Int)
        /// Entries that are not shown. If `isRepetition` is true, entries of the same kinds are shown above.
        case omitted(count: Int, isRepetition: Bool, isOneKind: Bool)
    }

    /// The maximum number of equal, consecutive steps that are shown.
    private static let longestRun = 4
    /// The number of entries directly before a failed step that are always shown.
    private static let context = 8
    private static let maxLandmarks = 24

    private let kinds: [Int]
    private let entries: [TimelineEntry]
    /// The entries that are not shown because they are inside a sequence of equal steps.
    private var folded: Set<Int> = []

    init(_ entries: [TimelineEntry]) {
        self.entries = entries
        var numbers: [Kind: Int] = [:]
        kinds = entries.map { entry in
            let kind = Kind(entry)
            if let number = numbers[kind] { return number }
            numbers[kind] = numbers.count
            return numbers.count - 1
        }
        var start = 0
        for end in 1...max(1, entries.count) where end >= entries.count || kinds[end] != kinds[start] {
            if end - start > Self.longestRun, case .step = entries[start].kind {
                folded.formUnion((start + 1)..<(end - 1))
            }
            start = end
        }
    }

    /// Returns the lines to show. Their number is at most `limit`, unless the required entries need more lines.
    func lines(limit: Int) -> [Line] {
        if entries.count - folded.count <= limit {
            let whole = entries.indices.filter { !folded.contains($0) }
            if !whole.isEmpty, lineCount(whole) <= limit { return lines(whole) }
        }
        let order = ranked(limit)
        // Each entry may require an additional line for the entries omitted before it, so the number of entries is
        // reduced until the lines fit. At this stage, the lines are only counted, because creating them may involve the
        // whole timeline.
        var count = max(order.required, min(limit, order.ranked.count))
        while count > order.required, lineCount(order.ranked.prefix(count).sorted()) > limit { count -= 1 }
        return lines(order.ranked.prefix(count).sorted())
    }

    /// Returns the number of lines that the given entries require: one for each entry, and one for each gap.
    private func lineCount(_ shown: [Int]) -> Int {
        var count = shown.count
        var last = -1
        for index in shown {
            if index > last + 1 { count += 1 }
            last = index
        }
        return last + 1 < entries.count ? count + 1 : count
    }

    private func lines(_ shown: [Int]) -> [Line] {
        var lines: [Line] = []
        var above: Set<Int> = []
        var last = -1
        for index in shown + [entries.count] {
            let gap = (last + 1)..<index
            if gap.count == 1 {
                lines.append(.entry(gap.lowerBound))
                above.insert(kinds[gap.lowerBound])
            } else if !gap.isEmpty {
                let omitted = Set(kinds[gap])
                lines.append(
                    .omitted(
                        count: gap.count, isRepetition: omitted.isSubset(of: above),
                        isOneKind: omitted.count == 1 && last >= 0 && omitted.first == kinds[last]))
            }
            if index == entries.count { break }
            lines.append(.entry(index))
            above.insert(kinds[index])
            last = index
        }
        return lines
    }

    // MARK: Ranking of the entries

    private func ranked(_ limit: Int) -> (ranked: [Int], required: Int) {
        var ranked: [Int] = []
        var known: Set<Int> = []
        func add(_ index: Int) { if known.insert(index).inserted { ranked.append(index) } }

        for (index, entry) in entries.enumerated().reversed() {
            guard case .stepFailed(let span) = entry.kind else { continue }
            add(index)
            // Include the start of the failed step, and the entries directly before the failure.
            let step = entries[..<index].lastIndex {
                if case .step(let other, _, _) = $0.kind { other == span } else { false }
            }
            if let step { add(step) }
            for before in (max(0, index - (known.count > 2 ? 2 : Self.context))..<index).reversed() { add(before) }
            if known.count > 2 * Self.context { break }
        }
        for index in landmarks { add(index) }
        let required = ranked.count
        var first: Set<Int> = []
        for index in entries.indices where first.insert(kinds[index]).inserted && first.count <= limit / 2 {
            add(index)
        }
        for index in entries.indices.reversed() where !folded.contains(index) {
            if ranked.count >= limit + required { break }
            add(index)
        }
        return (ranked, required)
    }

    /// Each actor's first and last packet and event, and the first and last packet that opens or closes a connection.
    private var landmarks: [Int] {
        var firsts: [Landmark: Int] = [:]
        var lasts: [Landmark: Int] = [:]
        for (index, entry) in entries.enumerated() {
            for landmark in Landmark.of(entry) {
                if firsts[landmark] == nil { firsts[landmark] = index }
                lasts[landmark] = index
            }
        }
        // Connections of programs have no names and can number in the thousands, so the number of entries is limited.
        return Array(Set(firsts.values).union(lasts.values).sorted(by: >).prefix(Self.maxLandmarks))
    }
}

/// The key of entries that are similar enough to be counted together.
private struct Kind: Hashable {
    private var span: SourceSpan?
    private var label = ""
    private var word = ""

    init(_ entry: TimelineEntry) {
        switch entry.kind {
        case .step(let span, _, _): (self.span, label) = (span, "step")
        case .stepFailed(let span): (self.span, label) = (span, "failed")
        case .packet(let line):
            let packet = PacketWords(line.text)
            (label, word) = (packet.direction, packet.flags)
        case .output(let actor, let isError, _): (label, word) = (actor, isError ? "stderr" : "stdout")
        case .event(let actor, let text): (label, word) = (actor, TimelineSelection.firstWord(text))
        case .note(let text): (label, word) = ("note", TimelineSelection.firstWord(text))
        }
    }
}

extension TimelineSelection {
    /// Returns the first word of the text: `line` for `line "anna"`, `either:` for `either: took branch 2 of 3`.
    fileprivate static func firstWord(_ text: String) -> String { String(text.prefix { $0 != " " }) }
}

/// The parts of a packet's text, such as `S -> T  P.  seq 1 …`.
private struct PacketWords {
    var direction = ""
    var flags = ""

    init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 4)
        if words.count > 3 {
            direction = "\(words[0]) \(words[2])"
            flags = String(words[3])
        }
    }
}

private enum Landmark: Hashable {
    case packet(direction: String)
    case opening(direction: String)
    case closing(direction: String)
    case event(actor: String)
    case output(actor: String)

    static func of(_ entry: TimelineEntry) -> [Landmark] {
        switch entry.kind {
        case .packet(let line):
            let packet = PacketWords(line.text)
            var landmarks = [Landmark.packet(direction: packet.direction)]
            if packet.flags.contains("S") { landmarks.append(.opening(direction: packet.direction)) }
            if packet.flags.contains("F") || packet.flags.contains("R") {
                landmarks.append(.closing(direction: packet.direction))
            }
            return landmarks
        case .event(let actor, _): return [.event(actor: actor)]
        case .output(let actor, _, _): return [.output(actor: actor)]
        case .step, .stepFailed, .note: return []
        }
    }
}
