import ProbeRegex
import ProbeScenario
import Testing

struct RegexMatchTests {
    struct Reference: Sendable, CustomTestStringConvertible {
        let pattern: String
        let ignoresCase: Bool
        let input: [UInt8]
        let expected: String

        init(_ line: Substring) {
            let fields = line.split(separator: " ")
            ignoresCase = fields[0] == "i"
            pattern = String(fields[1])
            input =
                fields[2] == "\"\""
                ? []
                : fields[2].utf8.map { byte in
                    switch byte {
                    case UInt8(ascii: "~"): 0x0A
                    case UInt8(ascii: "!"): 0xFF
                    case UInt8(ascii: "_"): 0x20
                    default: byte
                    }
                }
            expected = String(fields[3])
        }

        var testDescription: String { "/\(pattern)/\(ignoresCase ? "i" : "") in \(input)" }

        static let all = regexReferenceTable.split(separator: "\n").map(Reference.init)
    }

    static func text(_ range: Range<Int>?) -> String {
        range.map { "\($0.lowerBound),\($0.upperBound)" } ?? "-"
    }

    @Test(arguments: Reference.all)
    func matchesEqualPythons(_ reference: Reference) throws {
        let regex = try ByteRegex(reference.pattern, ignoresCase: reference.ignoresCase)
        let match = regex.firstMatch(in: reference.input)
        let found = match.map { ([$0.range] + $0.groups.map(\.range)).map(Self.text).joined(separator: ";") } ?? "-"
        #expect(found == reference.expected)
        #expect(regex.containsMatch(in: reference.input) == (match != nil))
    }

    @Test func referenceTableIsComplete() {
        #expect(Reference.all.count == 300)
    }

    /// Returns the match as text; `nil` if there is no match.
    static func found(_ pattern: String, in input: String, ignoresCase: Bool = false) throws -> String? {
        let bytes = Array(input.utf8)
        let match = try ByteRegex(pattern, ignoresCase: ignoresCase).firstMatch(in: bytes)
        return match.map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }

    private static let matches: [(pattern: String, input: String, found: String?)] = [
        // A non-ASCII character in a pattern matches all of its bytes as a unit.
        (#"é+"#, "caééx", "éé"),
        (#"é{2}"#, "éxéé", "éé"),
        (#"[éà]+"#, "xàéy", "àé"),
        (#"[aé-]+"#, "x-éay", "-éa"),
        (#"\u{e9}|\u{20AC}"#, "a€", "€"),
        (#"\xc3\xa9"#, "é", "é"),
        (#"\u{41}\x42"#, "AB", "AB"),
        // Escape sequences match the characters that they represent.
        (#"\/a\.b\*"#, "x/a.b*", "/a.b*"),
        (#"\r\n\t\f\v\0$"#, "\r\n\t\u{0C}\u{0B}\0", "\r\n\t\u{0C}\u{0B}\0"),
        (#"[\r\n]+"#, "a\r\nb", "\r\n"),
        (#"[\]\\\-\b]+"#, "a]\\-\u{08}", "]\\-\u{08}"),
        // Braces and brackets without a special meaning match themselves.
        (#"{"a":\d+}"#, #"x{"a":12}"#, #"{"a":12}"#),
        (#"a{x}"#, "a{x}", "a{x}"),
        (#"a{2"#, "a{2", "a{2"),
        (#"a{}"#, "a{}", "a{}"),
        (#"[]a]+[^]a]"#, "a]b", "a]b"),
        (#"[a-]+"#, "b-a", "-a"),
        (#"[+--]+"#, "a,-+", ",-+"),
        (#"[[:alpha:]]+[[:^space:][:digit:]]"#, "12ab3", "ab3"),
        (#"[[:xdigit:][:punct:]]+"#, "zF:9z", "F:9"),
        (#"[[:]+"#, "a[:", "[:"),
        // Anchors match at the ends of the input, unless `(?m)` is set.
        (#"^b"#, "a\nb", nil),
        (#"a$"#, "a\n", nil),
        (#"(?m)^b$"#, "a\nb\nc", "b"),
        (#"(?m)\Ab"#, "a\nb", nil),
        (#"(?m)a\z"#, "a\nb", nil),
        (#"a.b"#, "a\nb", nil),
        (#"(?s)a.b"#, "a\nb", "a\nb"),
        (#"(?s:a.)b."#, "a\nb\n", nil),
        // Flags apply up to the end of their group.
        (#"(?:(?i)a)b"#, "AB", nil),
        (#"(?:(?i)a)b"#, "Ab", "Ab"),
        (#"x(?i)a|b"#, "B", "B"),
        (#"(?i)a(?-i)b"#, "AB", nil),
        (#"(?i-s:K)"#, "k", "k"),
        (#"(?i)[^k]"#, "K", nil),
        (#"(?i)[k]\x4b"#, "kk", "kk"),
        // U+212A folds to k in Unicode, but `(?i)` applies only to ASCII letters.
        (#"(?i)k"#, "\u{212A}", nil),
        // Earlier alternatives have priority.
        (#"a|ab"#, "ab", "a"),
        (#"ab|a"#, "ab", "ab"),
        (#"a*?b"#, "aab", "aab"),
        (#"(?:a|ab)(?:c|bcd)"#, "abcd", "abcd"),
        (#"x{0}a"#, "xa", "a"),
        // Matching terminates even if a repeated pattern can match the empty string.
        (#"(?:)*"#, "a", ""),
        (#"(?:a*)*"#, "aab", "aa"),
        (#"(?:a*)+$"#, "aa", "aa"),
        (#"(?:|a)*"#, "aa", ""),
        (#"(?:|a)+$"#, "aa", "aa"),
        (#"(?:^)?a"#, "ba", "a"),
        (#"\Bb\B"#, "abc", "b"),
        (#""#, "abc", ""),
    ]

    @Test(arguments: matches)
    func matchesAreFound(_ pattern: String, in input: String, _ expected: String?) throws {
        #expect(try Self.found(pattern, in: input) == expected)
    }

    @Test func caseInsensitiveFlagAppliesToASCII() throws {
        #expect(try Self.found("[a-c]É", in: "xBÉ", ignoresCase: true) == "BÉ")
        #expect(try Self.found("é", in: "É", ignoresCase: true) == nil)
    }

    @Test func namedGroupsAreCaptured() throws {
        let regex = try ByteRegex(#"^(?<code>\d{3})(?P<sep>[ -])(?<the-rest>.*)(?<none>x)?$"#)
        #expect(regex.groupNames == ["code", "sep", "the-rest", "none"])
        let match = try #require(regex.firstMatch(in: Array("220 ready".utf8)))
        #expect(match["code"] == 0..<3)
        #expect(match["sep"] == 3..<4)
        #expect(match["the-rest"] == 4..<9)
        #expect(match["none"] == nil)
        #expect(match["absent"] == nil)
        #expect(match.groups.map(\.name) == regex.groupNames)
    }

    @Test func sliceBoundsAreAnchors() throws {
        let bytes = Array("xxabyy".utf8)
        let match = try #require(try ByteRegex("^a(?<b>b)$").firstMatch(in: bytes[2..<4]))
        #expect(match.range == 2..<4)
        #expect(match["b"] == 3..<4)
        #expect(try ByteRegex("^a(?<b>b)$").containsMatch(in: bytes[2..<4]))
        #expect(try !ByteRegex("^a(?<b>b)$").containsMatch(in: bytes))
    }

    @Test func searchFromAnOffsetSeesEarlierBytes() throws {
        let bytes = Array("ab ab\nab".utf8)
        #expect(try ByteRegex("ab").firstMatch(in: bytes, from: 1)?.range == 3..<5)
        #expect(try ByteRegex("^ab").firstMatch(in: bytes, from: 3) == nil)
        #expect(try ByteRegex("(?m)^ab").firstMatch(in: bytes, from: 3)?.range == 6..<8)
        #expect(try ByteRegex(#"\bb"#).firstMatch(in: bytes, from: 1) == nil)
        #expect(try ByteRegex("$").firstMatch(in: bytes, from: 8)?.range == 8..<8)
        #expect(try ByteRegex("$").firstMatch(in: bytes, from: 9) == nil)
        #expect(try ByteRegex("").firstMatch(in: bytes, from: -1) == nil)
        #expect(try ByteRegex("").firstMatch(in: bytes, from: .max) == nil)
    }

    @Test func quotedBytesMatchOnlyThemselves() throws {
        let all = (0...255 as ClosedRange<UInt8>).map { $0 }
        let quoted = try ByteRegex("^" + ByteRegex.quoting(all) + "$")
        #expect(quoted.firstMatch(in: all)?.range == 0..<256)
        for byte in all {
            let regex = try ByteRegex("^(?:\(ByteRegex.quoting([byte])))$")
            for other in all { #expect(regex.containsMatch(in: [other]) == (other == byte)) }
        }
        #expect(ByteRegex.quoting([]) == "")
        // A digit that follows a quoted null byte is not taken for a part of the null byte's escape sequence.
        #expect(try ByteRegex(ByteRegex.quoting([0x00, 0x31])).containsMatch(in: [0x00, 0x31]))
    }

    @Test func equalityComparesSourceAndFlag() throws {
        #expect(try ByteRegex("a") == ByteRegex("a"))
        #expect(try ByteRegex("a") != ByteRegex("b"))
        #expect(try ByteRegex("a") != ByteRegex("a", ignoresCase: true))
    }
}
