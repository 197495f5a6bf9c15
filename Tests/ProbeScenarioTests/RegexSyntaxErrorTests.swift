import ProbeRegex
import ProbeScenario
import Testing

struct RegexSyntaxErrorTests {
    /// `†` marks the offset that the error reports.
    @Test(arguments: [
        ("a†(b", RegexSyntaxError.Kind.unclosedGroup),
        ("†(?i", .unclosedGroup),
        ("a†)b", .unopenedGroup),
        ("a†[b", .unclosedClass),
        ("†[]", .unclosedClass),
        ("†[^]", .unclosedClass),
        ("†[a-", .unclosedClass),
        (#"ab†\"#, .danglingEscape),
        (#"[a†\"#, .danglingEscape),
        (#"a†\y"#, .unknownEscape("y")),
        (#"a†\Z"#, .unknownEscape("Z")),
        (#"a†\é"#, .unknownEscape("é")),
        (#"[†\B]"#, .unknownEscape("B")),
        (#"[†\1]"#, .unknownEscape("1")),
        (#"†\p{L}"#, .unknownEscape("p")),
        (#"†\x4"#, .badByteEscape),
        (#"†\xg0"#, .badByteEscape),
        (#"†\u41"#, .badScalarEscape),
        (#"†\u{}"#, .badScalarEscape),
        (#"†\u{d800}"#, .badScalarEscape),
        (#"†\u{1234567}"#, .badScalarEscape),
        (#"†\012"#, .octalEscape),
        ("†(?#x)", .unknownGroup),
        ("†(?)", .unknownGroup),
        ("†(?R)", .unknownGroup),
        ("(?i†x)", .unknownFlag("x")),
        ("(?†a)", .unknownFlag("a")),
        ("(?<†>a)", .badGroupName),
        ("(?<†1a>a)", .badGroupName),
        ("(?<a†->a)", .badGroupName),
        ("(?<a)>a)", .badGroupName),
        ("(?<a>.)(?<†a>.)", .duplicateGroupName("a")),
        ("†*a", .nothingToRepeat),
        ("a|†+", .nothingToRepeat),
        ("†{2}", .nothingToRepeat),
        ("^†*", .nothingToRepeat),
        (#"\b†{2}"#, .nothingToRepeat),
        ("(?i)†*", .nothingToRepeat),
        ("a*†*", .repeatedTwice),
        ("a{2}†{3}", .repeatedTwice),
        ("a+?†?", .repeatedTwice),
        ("a†{,3}", .noRepeatMinimum),
        ("a†{3,2}", .repeatBoundsReversed(3, 2)),
        ("[†b-a]", .rangeReversed),
        (#"[a-†\d]"#, .badRangeEnd),
        (#"[†\d-z]"#, .badRangeEnd),
        ("[a-†é]", .badRangeEnd),
        ("[†à-é]", .badRangeEnd),
        ("[^†é]", .nonASCIIInNegatedClass),
        ("[†[:foo:]]", .unknownPOSIXClass("foo")),
        (#"(a)†\1"#, .backreference),
        (#"(?<a>.)†\k<a>"#, .backreference),
        (#"(?<a>.)†(?P=a)"#, .backreference),
        ("a†(?=b)", .lookaround),
        ("a†(?!b)", .lookaround),
        ("†(?<=b)a", .lookaround),
        ("†(?<!b)a", .lookaround),
        ("a†*+", .possessive),
        ("a†{2}+", .possessive),
        ("†(?>a)", .atomicGroup),
        ("†(?(1)a)", .conditional),
        ("(?:a{1000})†{1000}", .tooLarge(limit: 32_768)),
        ("a†{999999999999999999999}", .tooLarge(limit: 32_768)),
        ("(?:(?:){1000})†{1000}", .tooLarge(limit: 32_768)),
    ])
    func errorsNameTheirCauseAndOffset(_ marked: String, _ kind: RegexSyntaxError.Kind) throws {
        let parts = marked.split(separator: "†", maxSplits: 1, omittingEmptySubsequences: false)
        // An entry without `†` tests only the kind of error.
        let offset = parts.count == 2 ? parts[0].utf8.count : nil
        let pattern = parts.joined()
        let error = #expect(throws: RegexSyntaxError.self) { try ByteRegex(pattern) }
        #expect(error?.kind == kind)
        if let offset { #expect(error?.offset == offset) }
        #expect(error?.message.isEmpty == false)
    }

    @Test func unsupportedSyntaxIsExplained() throws {
        for pattern in [#"(a)\1"#, "(?=a)", "a++", "(?>a)", "(?(1)a)"] {
            let error = try #require(throws: RegexSyntaxError.self) { try ByteRegex(pattern) }
            #expect(error.message.contains("not supported"))
            #expect(error.message.contains("linear"))
        }
    }

    @Test func invalidUTF8IsRefused() {
        let error = #expect(throws: RegexSyntaxError.self) { try ByteRegex(bytes: [0x61, 0xC3, 0xA9, 0xFF, 0x61]) }
        #expect(error == RegexSyntaxError(.notUTF8, offset: 3))
        #expect(throws: RegexSyntaxError(.notUTF8, offset: 0)) { try ByteRegex(bytes: [0xC3]) }
    }

    @Test func limitsAreExact() throws {
        let deep = String(repeating: "(", count: 100) + "a" + String(repeating: ")", count: 100)
        #expect(try ByteRegex(deep).containsMatch(in: [0x61]))
        #expect(throws: RegexSyntaxError(.nestedTooDeep(limit: 100), offset: 100)) { try ByteRegex("(\(deep))") }
        let hostile = String(repeating: "(?:", count: 1_000_000)
        #expect(throws: RegexSyntaxError(.nestedTooDeep(limit: 100), offset: 300)) { try ByteRegex(hostile) }

        let groups = (0..<64).map { "(?<g\($0)>a)" }.joined()
        #expect(try ByteRegex(groups).groupNames.count == 64)
        #expect(throws: RegexSyntaxError.self) { try ByteRegex(groups + "(?<more>a)") }

        let long = "^" + String(repeating: "a", count: 32_766)
        #expect(try ByteRegex(long).containsMatch(in: [UInt8](repeating: 0x61, count: 32_766)))
        #expect(throws: RegexSyntaxError(.tooLarge(limit: 32_768), offset: 32_768)) { try ByteRegex(long + "aa") }
    }
}
