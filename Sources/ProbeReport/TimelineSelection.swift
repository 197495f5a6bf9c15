import ProbeEvents
import ProbeScenario

/// Which entries of a timeline a report shows, in a limited number of lines. Pure.
///
/// Always shown: the step that failed and what directly precedes it, of each actor the first and the last packet and event, and the packets that
/// open and close its connections. Then the first entry of each kind (a step of the script, a packet in one direction, a report of an actor), as
/// the body of a loop is shown by its first round; then the latest ones. Between them a line counts what is left out.
struct TimelineSelection {
    enum Line: Equatable {
        case entry(Int)
        /// Entries that are not shown. `isRepetition`: each one is of a kind that is shown above.
        case omitted(count: Int, isRepetition: Bool, isOneKind: Bool)
    }

    /// Equal steps that directly follow each other are shown so many times at most.
    private static let longestRun = 4
    /// Entries directly before a failed step that are always shown.
    private static let context = 8
    private static let mostLandmarks = 24

    private let kinds: [Int]
    private let entries: [TimelineEntry]
    /// Entries inside a run of equal steps.
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

    /// The lines that are shown: at most `limit`, unless more must be shown.
    func lines(limit: Int) -> [Line] {
        if entries.count - folded.count <= limit {
            let whole = entries.indices.filter { !folded.contains($0) }
            if !whole.isEmpty, lineCount(whole) <= limit { return lines(whole) }
        }
        let order = ranked(limit)
        // Each entry may need a line for what is left out before it, so that the number of entries is tried downwards. Only the
        // lines are counted: what a line leaves out may be the whole timeline.
        var count = max(order.required, min(limit, order.ranked.count))
        while count > order.required, lineCount(order.ranked.prefix(count).sorted()) > limit { count -= 1 }
        return lines(order.ranked.prefix(count).sorted())
    }

    /// How many lines there are if these entries, in their order, are shown: one more for each gap between them.
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

    // MARK: What matters more

    private func ranked(_ limit: Int) -> (ranked: [Int], required: Int) {
        var ranked: [Int] = []
        var known: Set<Int> = []
        func add(_ index: Int) { if known.insert(index).inserted { ranked.append(index) } }

        for (index, entry) in entries.enumerated().reversed() {
            guard case .stepFailed(let span) = entry.kind else { continue }
            add(index)
            // The step itself, and what directly precedes its failure.
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

    /// Of each actor the first and the last packet and event; the first and the last packet that opens and that closes.
    private var landmarks: [Int] {
        var firsts: [Landmark: Int] = [:]
        var lasts: [Landmark: Int] = [:]
        for (index, entry) in entries.enumerated() {
            for landmark in Landmark.of(entry) {
                if firsts[landmark] == nil { firsts[landmark] = index }
                lasts[landmark] = index
            }
        }
        // Connections of programs have no names: there may be thousands.
        return Array(Set(firsts.values).union(lasts.values).sorted(by: >).prefix(Self.mostLandmarks))
    }
}

/// What makes entries equal enough to be counted together.
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
    /// `line` of `line "anna"`; of `either: branch 2 is taken` the `either:`.
    fileprivate static func firstWord(_ text: String) -> String { String(text.prefix { $0 != " " }) }
}

/// `S -> T  P.  seq 1 …` in its parts.
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
