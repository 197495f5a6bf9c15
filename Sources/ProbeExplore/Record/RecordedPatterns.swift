import ProbeBase

/// The differences between two recordings of the same exchange, expressed as patterns. A part of a line that differs
/// between the recordings is matched by a regex and given a name. If the other side repeats that part, the name is used
/// instead of the bytes.
struct RecordedPatterns: Sendable {
    enum Text: Sendable, Equatable {
        /// The text is the same as in the first recording.
        case same
        /// The content of a string that contains variables such as `${v1}`.
        case withVariables(String)
        /// A regex with a named group, without its slashes.
        case pattern(String)
        /// The recordings have nothing in common, so any bytes match.
        case anything(name: String)
    }

    /// A part that differs between the recordings, and its value in each of them.
    private struct Variable {
        /// The name of the variable; empty if the harness itself sends the part. The harness then sends the value from
        /// the first recording.
        var name: String
        var values: [[UInt8]]
        /// Whether the part is a time. A time in a later line is a different time, even if the two times have the same
        /// value in both recordings.
        var isTime = false
    }

    /// The units of the first recording that are also in the second recording.
    let units: [RecordedUnit]
    private var sentTexts: [Int: Text] = [:]
    private var receivedTexts: [Int: Text] = [:]
    private var variables: [Variable] = []

    func sent(_ number: Int) -> Text { sentTexts[number] ?? .same }
    func received(_ number: Int) -> Text { receivedTexts[number] ?? .same }

    /// Compares the recordings with each other.
    ///
    /// - Parameters:
    ///   - recordings: the units of one recording, or of two recordings.
    ///   - own: the sides that the harness plays. They send the same bytes as in the first recording.
    ///   - areCut: whether a recording may end before the exchange has ended.
    init(
        _ recordings: [[RecordedUnit]], own: [ConversationSide], areCut: Bool = false
    ) throws(RecordedScript.Obstacle) {
        guard recordings.count > 1 else {
            units = recordings.first ?? []
            return
        }
        let pairs = try Self.paired(recordings[0], recordings[1], areCut: areCut)
        units = pairs.map(\.0)
        for (number, pair) in pairs.enumerated() where pair.0.bytes != pair.1.bytes {
            try compare(pair.0, pair.1, number: number, isOwn: own.contains(pair.0.side))
        }
    }

    /// Pairs the units of two recordings. The units of each side must be in the same order in both recordings. The
    /// order of units of different sides may vary with timing. The way in which a side ends its stream may also vary,
    /// because a late FIN can arrive after the peer has closed the connection. If the order of units or the end of a
    /// stream differs, the first recording is used.
    private static func paired(
        _ first: [RecordedUnit], _ second: [RecordedUnit], areCut: Bool
    ) throws(RecordedScript.Obstacle) -> [(RecordedUnit, RecordedUnit)] {
        var next: [ConversationSide: Int] = [.client: 0, .server: 0]
        let others = Dictionary(grouping: second, by: \.side)
        var ended: Set<ConversationSide> = []
        var pairs: [(RecordedUnit, RecordedUnit)] = []
        for (number, unit) in first.enumerated() where !ended.contains(unit.side) {
            let index = next[unit.side] ?? 0
            if unit.isEnd {
                guard let other = others[unit.side]?.dropFirst(index).first, other.isEnd else { continue }
                var unit = unit
                unit.isUncertain = other.kind != unit.kind
                next[unit.side] = index + 1
                pairs.append((unit, other))
                continue
            }
            guard let list = others[unit.side], index < list.count, unit.kind.isSame(as: list[index].kind) else {
                // The recording ended within this line, so the line is incomplete.
                if areCut {
                    ended.insert(unit.side)
                    continue
                }
                throw RecordedScript.Obstacle(
                    text:
                        "the two recordings are not of the same exchange: they differ starting at line or message "
                        + "\(number + 1), which is \(text(of: unit)) in the first recording"
                )
            }
            next[unit.side] = index + 1
            pairs.append((unit, list[index]))
        }
        let rest = others.values.flatMap { list in list.dropFirst(list.first.flatMap { next[$0.side] } ?? 0) }
        if !areCut, rest.contains(where: { !$0.isEnd }) {
            throw RecordedScript.Obstacle(
                text:
                    "the two recordings are not of the same exchange: the second recording continues after the end "
                    + "of the first"
            )
        }
        if areCut, let last = pairs.last, last.0.kind == .bytes, last.0.bytes.count != last.1.bytes.count {
            pairs.removeLast()
        }
        return pairs
    }

    private static func text(of unit: RecordedUnit) -> String {
        let actor = unit.side == .client ? "client" : "server"
        return switch unit.kind {
        case .line, .bytes: Escaped.phrase(unit.bytes)
        case .tls: "the start of TLS"
        case .fin, .truncated, .notify: "the end of the data from the \(actor)"
        case .reset: "a reset from the \(actor)"
        case .alert: "an alert from the \(actor)"
        }
    }

    private mutating func compare(
        _ first: RecordedUnit, _ second: RecordedUnit, number: Int, isOwn: Bool
    ) throws(RecordedScript.Obstacle) {
        let pair = [first.bytes, second.bytes]
        if let text = Self.replaced(pair, by: variables.filter { isOwn || !$0.isTime }) {
            sentTexts[number] = .withVariables(text)
            receivedTexts[number] = .withVariables(text)
            return
        }
        if first.kind == .bytes, pair[0].count != pair[1].count {
            throw RecordedScript.Obstacle(
                text:
                    "\(Escaped.phrase(pair[0])) in the first recording has a different length in the second "
                    + "recording, and is not a line; specify the framing with `--framing`"
            )
        }
        if first.kind == .line, let tokens = RecordedToken.aligned(pair[0], pair[1]),
            tokens.count(where: { $0 != $1 }) <= Self.maxParts
        {
            compare(tokens, number: number, isOwn: isOwn)
            return
        }
        let range = Self.difference(pair[0], pair[1])
        let values = [
            Array(pair[0][range.before..<(pair[0].count - range.after)]),
            Array(pair[1][range.before..<(pair[1].count - range.after)]),
        ]
        if isOwn {
            variables.append(Variable(name: "", values: values))
            return
        }
        let isWhole = first.kind == .bytes || range.before + range.after == 0
        let name = named(isWhole ? pair : values)
        receivedTexts[number] =
            isWhole
            ? .anything(name: name)
            : .pattern(
                "^" + RecordedToken.escaped(pair[0].prefix(range.before))
                    + "(?<\(name)>\(RecordedToken.pattern(values)))"
                    + RecordedToken.escaped(pair[0].suffix(range.after)) + "$")
    }

    /// Compares the tokens of a line in which only some words differ. A word with a known name is replaced with this
    /// name.
    private mutating func compare(_ tokens: [(RecordedToken, RecordedToken)], number: Int, isOwn: Bool) {
        var (text, regex, hasNames) = ("", "", false)
        for (first, second) in tokens {
            let values = [first.bytes, second.bytes]
            let known = variables.last { $0.values == values && (isOwn || !$0.isTime) }
            if first == second || known?.name.isEmpty ?? isOwn {
                if first != second, known == nil { variables.append(Variable(name: "", values: values)) }
                text += StreamStatements.literal(first.bytes).dropFirst().dropLast()
                regex += RecordedToken.escaped(first.bytes)
            } else if let known {
                text += "${\(known.name)}"
                regex += "${\(known.name)}"
                hasNames = true
            } else {
                regex += "(?<\(named(values, isTime: first.kind == .time))>\(RecordedToken.pattern(first, second)))"
            }
        }
        if isOwn, hasNames { sentTexts[number] = .withVariables(text) }
        if !isOwn { receivedTexts[number] = .pattern("^" + regex + "$") }
    }

    /// The maximum number of parts of a line that may differ. A line with more such parts is matched by its common
    /// beginning and end.
    private static let maxParts = 16

    private mutating func named(_ values: [[UInt8]], isTime: Bool = false) -> String {
        let name = "v\(variables.count { !$0.name.isEmpty } + 1)"
        variables.append(Variable(name: name, values: values, isTime: isTime))
        return name
    }

    /// Returns the number of equal bytes before the part in which two lines differ, and the number of equal bytes after
    /// that part. A word that differs belongs entirely to that part.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> (before: Int, after: Int) {
        var before = zip(left, right).prefix { $0 == $1 }.count
        let shorter = min(left.count, right.count)
        var after = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        after = min(after, shorter - before)
        while before > 0, RecordedToken.isWordByte(left[before - 1]) { before -= 1 }
        while after > 0, RecordedToken.isWordByte(left[left.count - after]) { after -= 1 }
        return (before, after)
    }

    /// Returns the text with the known differences replaced by their names; `nil` if the two recordings differ even
    /// after the replacement.
    private static func replaced(_ pair: [[UInt8]], by variables: [Variable]) -> String? {
        var texts = ["", ""]
        for recording in 0...1 {
            let bytes = pair[recording]
            var index = 0
            while index < bytes.count {
                let known = variables.filter { variable in
                    let value = variable.values[recording]
                    return !value.isEmpty && variable.values[0] != variable.values[1]
                        && bytes[index...].starts(with: value)
                }.max { $0.values[recording].count < $1.values[recording].count }
                if let known {
                    let literal = StreamStatements.literal(known.values[0]).dropFirst().dropLast()
                    texts[recording] += known.name.isEmpty ? String(literal) : "${\(known.name)}"
                    index += known.values[recording].count
                } else {
                    let literal = StreamStatements.literal([bytes[index]])
                    texts[recording] += literal.dropFirst().dropLast()
                    index += 1
                }
            }
        }
        return texts[0] == texts[1] ? texts[0] : nil
    }
}
