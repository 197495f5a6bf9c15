import ProbeBase
import ProbeRegex
import ProbeScenario

/// A token of a recorded line: a date or time, a UUID, a word, or a single byte between words. Two recordings of a line
/// are compared token by token.
struct RecordedToken: Equatable {
    enum Kind: Equatable { case time, uuid, word, other }

    var kind: Kind
    var bytes: [UInt8]

    /// The maximum length of a line that is divided into tokens, in bytes.
    private static let longestLine = 16 << 10

    private static let months = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
    private static let clock = "\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?"
    // The text of the regex is constant. If it were invalid, no date or time would be found, and the tests would fail.
    private static let known = try? ByteRegex(
        [
            // The date formats of RFC 5322, section 3.3, and RFC 9110, section 5.6.7, including the obsolete formats,
            // and the date format of HTTP server logs.
            "(?<day>\\b(?:[A-Z][a-z]{2,8}, )?\\d{1,2}[ /-]\(months)[ /-]\\d{2,4}[ :]\(clock)(?: (?:[A-Z]{1,5}\\b|[+-]\\d{4}))?(?: \\([A-Z]+\\))?)",
            // The output formats of `date` and `ctime`.
            "(?<month>\\b(?:[A-Z][a-z]{2} )?\(months) [ \\d]\\d \(clock)(?: [A-Z]{3,5})?(?: \\d{4})?\\b)",
            // The date and time format of RFC 3339.
            "(?<year>\\b\\d{4}-\\d{2}-\\d{2}(?:[T ]\(clock)(?:Z\\b|[+-]\\d{2}:?\\d{2})?)?\\b)",
            "(?<clock>\\b\(clock)\\b)",
            "(?<uuid>\\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\b)",
        ].joined(separator: "|"))

    static func tokens(of line: [UInt8]) -> [RecordedToken] {
        guard line.count <= longestLine, let known else { return [] }
        var (tokens, index): ([RecordedToken], Int) = ([], 0)
        while index < line.count {
            let match = known.firstMatch(in: line, from: index)
            words(line[index..<(match?.range.lowerBound ?? line.count)], to: &tokens)
            guard let match, !match.range.isEmpty else { break }
            let kind: Kind = match["uuid"] == nil ? .time : .uuid
            tokens.append(RecordedToken(kind: kind, bytes: Array(line[match.range])))
            index = match.range.upperBound
        }
        return tokens
    }

    private static func words(_ bytes: ArraySlice<UInt8>, to tokens: inout [RecordedToken]) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = bytes[index...].firstIndex { !isWordByte($0) } ?? bytes.endIndex
            if end > index {
                tokens.append(RecordedToken(kind: .word, bytes: Array(bytes[index..<end])))
                index = end
            } else {
                tokens.append(RecordedToken(kind: .other, bytes: [bytes[index]]))
                index += 1
            }
        }
    }

    static func isWordByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// Returns the tokens of the two lines in pairs if the lines differ only in words, times and UUIDs; otherwise
    /// `nil`.
    static func aligned(_ left: [UInt8], _ right: [UInt8]) -> [(RecordedToken, RecordedToken)]? {
        let (left, right) = (tokens(of: left), tokens(of: right))
        guard !left.isEmpty, left.count == right.count else { return nil }
        let pairs = Array(zip(left, right))
        return pairs.allSatisfy { $0.kind == $1.kind && ($0.kind != .other || $0 == $1) } ? pairs : nil
    }

    // MARK: Patterns

    /// Returns a regex that matches the two tokens and other tokens of the same kind.
    static func pattern(_ left: RecordedToken, _ right: RecordedToken) -> String {
        switch left.kind {
        case .uuid: return "[0-9A-Fa-f-]+"
        case .time:
            let structure = structure(of: left.bytes)
            return structure == self.structure(of: right.bytes) ? structure : ".+"
        case .word, .other: return pattern([left.bytes, right.bytes])
        }
    }

    /// Returns a regex that matches all of the values. The regex depends on the kinds of bytes that the values contain.
    static func pattern(_ values: [[UInt8]]) -> String {
        let bytes = values.joined()
        let some = values.contains(where: \.isEmpty) ? "*" : "+"
        if bytes.allSatisfy({ (48...57).contains($0) }) { return "[0-9]\(some)" }
        if bytes.allSatisfy(isWordByte) { return "[^ ]\(some)" }
        return ".\(some)"
    }

    /// Returns a regex in which each sequence of digits, letters or spaces matches any sequence of the same kind.
    private static func structure(of bytes: [UInt8]) -> String {
        var parts: [String] = []
        for byte in bytes {
            let part =
                switch byte {
                case 48...57: "[0-9]+"
                case 65...90, 97...122: "[A-Za-z]+"
                case 32: " +"
                default: escaped([byte])
                }
            // A sequence of digits, letters or spaces is a single part, whereas equal bytes of another kind are
            // separate parts.
            if parts.last != part || !part.hasSuffix("+") { parts.append(part) }
        }
        return parts.joined()
    }

    static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 32, 44, 45, 58, 59, 61, 95, 64, 33, 34, 35, 37, 38, 39, 60, 62, 126:
                String(UnicodeScalar(byte))
            case 33..<127: "\\" + String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }
}
