import ProbeBase

/// What differs between two recordings of the same exchange, as patterns: what one end says differently each time is expected by a regex,
/// and given a name; where the other end says it back, the name stands for it.
struct RecordedPatterns: Sendable {
    enum Text: Sendable, Equatable {
        /// As in the first recording.
        case same
        /// The text of a string, with `${v1}` in it.
        case withVariables(String)
        /// A regex with a group, without the slashes.
        case pattern(String)
        /// Nothing of it is the same.
        case anything(name: String)
    }

    /// A part that differed, in each recording.
    private struct Variable {
        /// Empty where the harness itself says it: then it is that of the first recording.
        var name: String
        var values: [[UInt8]]
    }

    private var sentTexts: [Int: Text] = [:]
    private var receivedTexts: [Int: Text] = [:]

    func sent(_ number: Int) -> Text { sentTexts[number] ?? .same }
    func received(_ number: Int) -> Text { receivedTexts[number] ?? .same }

    /// - Parameters:
    ///   - recordings: the units of one recording, or of two.
    ///   - own: the ends that the harness plays: what they say is that of the first recording.
    init(
        _ recordings: [[RecordedUnit]], own: [RecordedConversation.Side]
    ) throws(RecordedScript.Obstacle) {
        guard recordings.count > 1 else { return }
        let (first, second) = (recordings[0], recordings[1])
        var variables: [Variable] = []
        for number in first.indices {
            guard number < second.count, first[number].side == second[number].side,
                first[number].kind == second[number].kind
            else {
                throw RecordedScript.Obstacle(
                    text:
                        "the two recordings are not of the same exchange: from the \(Self.ordinal(number)) line or message on they differ, which is \(Escaped.phrase(first[number].bytes)) in the first one"
                )
            }
            let pair = [first[number].bytes, second[number].bytes]
            if pair[0] == pair[1] { continue }
            if let text = Self.replaced(pair, by: variables) {
                sentTexts[number] = .withVariables(text)
                receivedTexts[number] = .withVariables(text)
                continue
            }
            let name = "v\(variables.count { !$0.name.isEmpty } + 1)"
            let range = Self.difference(pair[0], pair[1])
            let values = [
                Array(pair[0][range.before..<(pair[0].count - range.behind)]),
                Array(pair[1][range.before..<(pair[1].count - range.behind)]),
            ]
            if first[number].kind == .bytes, pair[0].count != pair[1].count {
                throw RecordedScript.Obstacle(
                    text:
                        "\(Escaped.phrase(pair[0])) of the first recording has another length in the second one, and is no line: `--framing` says what a message is"
                )
            }
            if own.contains(first[number].side) {
                variables.append(Variable(name: "", values: values))
                continue
            }
            let isWhole = first[number].kind == .bytes || range.before + range.behind == 0
            variables.append(Variable(name: name, values: isWhole ? pair : values))
            receivedTexts[number] =
                isWhole
                ? .anything(name: name)
                : .pattern(
                    "^" + Self.escaped(pair[0].prefix(range.before)) + "(?<\(name)>\(Self.kind(values)))"
                        + Self.escaped(pair[0].suffix(range.behind)) + "$")
        }
        if second.count > first.count {
            throw RecordedScript.Obstacle(
                text:
                    "the two recordings are not of the same exchange: the second one goes on behind the end of the first"
            )
        }
    }

    private static func ordinal(_ number: Int) -> String { "\(number + 1)." }

    /// How many bytes are the same before and behind what differs. A word that differs is taken whole.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> (before: Int, behind: Int) {
        var before = zip(left, right).prefix { $0 == $1 }.count
        let shorter = min(left.count, right.count)
        var behind = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        behind = min(behind, shorter - before)
        while before > 0, isOfWord(left[before - 1]) { before -= 1 }
        while behind > 0, isOfWord(left[left.count - behind]) { behind -= 1 }
        return (before, behind)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// The text with names for what came before and differed; nil where that does not make both recordings alike.
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

    private static func kind(_ values: [[UInt8]]) -> String {
        let bytes = values.joined()
        if bytes.allSatisfy({ (48...57).contains($0) }) { return "[0-9]+" }
        if bytes.allSatisfy(isOfWord) { return "[^ ]+" }
        return values.contains(where: \.isEmpty) ? ".*" : ".+"
    }

    private static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 32, 44, 58, 59, 61, 95, 64, 33, 34, 35, 37, 38, 39, 60, 62, 126:
                String(UnicodeScalar(byte))
            case 33..<127: "\\" + String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}
