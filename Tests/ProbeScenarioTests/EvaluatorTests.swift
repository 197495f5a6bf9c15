import ProbeBase
import ProbeRegex
import ProbeScenario
import Testing

@Suite struct EvaluatorTests {
    /// Returns the value of an expression that is used in a script.
    static func value(
        _ text: String, variables: [String: Value] = [:], framing: Framing = .crlf, files: [String: [UInt8]] = [:]
    ) throws -> Value {
        let result = compile("scenario \"x\"\nserver S\nS accept\n\(binding(variables))note \(text)\n")
        let expression = try #require(
            result.plan?.scenario.steps.last.flatMap { step -> Expression? in
                if case .note(let value) = step.kind { value } else { nil }
            }, "\(result.rendered)")
        let scope = BoundScope(
            variables: variables, properties: { property, actor in actor == "S" ? Array("\(property)!".utf8) : nil },
            loader: { (file) throws(LoadError) in
                guard let bytes = files[file.shown] else { throw .notFound }
                return bytes
            })
        return try Evaluator(scope: scope, sources: result.sources, framing: framing).evaluate(expression)
    }

    /// Returns steps that bind variables with the given names and with values of the same types.
    static func binding(_ variables: [String: Value]) -> String {
        variables.sorted { $0.key < $1.key }.map { name, value in
            if case .integer = value { "S expect u64 as \(name)\n" } else { "S expect line as \(name)\n" }
        }.joined()
    }

    static func bytes(_ text: String, variables: [String: Value] = [:], framing: Framing = .crlf) throws -> [UInt8] {
        try #require(try value(text, variables: variables, framing: framing).bytes)
    }

    private static let valuesOfBytes: [(String, [UInt8])] = [
        (#""a\r\n\t\0\\\"\$\x7fé\u{e9}""#, Array("a\r\n\t\0\\\"$\u{7F}éé".utf8)),
        (#"'raw \n ${x}'"#, Array(#"raw \n ${x}"#.utf8)),
        (#""$ $x $$ {x}""#, Array("$ $x $$ {x}".utf8)),
        ("hex(de AD be ef 00)", [0xDE, 0xAD, 0xBE, 0xEF, 0]),
        ("hex()", []),
        (#"base64("aGk=") + base64("aGkh") + base64("YQ==")"#, Array("hihi!a".utf8)),
        ("u8(255) + u16(258) + u32(1) + u64(2)", [255, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]),
        ("u16le(258) + u32le(1) + u64le(2)", [2, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]),
        ("varint(0) + varint(127) + varint(128) + varint(300)", [0, 0x7F, 0x80, 1, 0xAC, 2]),
        (#"sized(u16, "abc") + sized(varint, "x") + sized(u8, "")"#, [0, 3, 97, 98, 99, 1, 120, 0]),
        (#""ab" * 3"#, Array("ababab".utf8)),
        (#""ab" * 0"#, []),
        (#"("a" + "b") * 2 + "c""#, Array("ababc".utf8)),
        (#"line("x") + lines("a", "", "b")"#, Array("x\r\na\r\n\r\nb\r\n".utf8)),
        (#""${S.port} ${S.address}""#, Array("port! address!".utf8)),
    ]

    @Test(arguments: valuesOfBytes)
    func valuesAreEvaluated(_ text: String, _ expected: [UInt8]) throws {
        #expect(try Self.bytes(text) == expected)
    }

    @Test(arguments: [
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 - 3 - 2", 5), ("(20 / 3 / 2)", 3), ("0x1f", 31), ("1_000", 1_000),
        ("4KiB", 4_096), ("1.5kB", 1_500), ("1MB", 1_000_000), ("len(\"abc\" * 4)", 12), ("int(\"-12\") + 1", -11),
        ("(2 - 5) * 2", -6),
    ])
    func integersAreEvaluated(_ text: String, _ expected: Int) throws {
        let result = compile("scenario \"x\"\nlet a = \(text)\nserver S\nS accept\n")
        #expect(result.plan?.cases.first?.bindings["a"] == .integer(expected), "\(result.rendered)")
    }

    @Test func integersAreDecimalTextInStrings() throws {
        #expect(
            try Self.bytes("\"a${n}b${s}\"", variables: ["n": .integer(-5), "s": .bytes([0xFF])]) == [
                97, 45, 53, 98, 255,
            ])
        #expect(try Self.bytes("\"${p}\"", variables: ["p": .pieces([[1], [2, 3]])]) == [1, 2, 3])
    }

    @Test func terminatorsFollowTheFraming() throws {
        #expect(try Self.bytes("line(\"x\")", framing: .lf) == [120, 10])
        #expect(try Self.bytes("line(\"x\")", framing: .cr) == [120, 13])
        #expect(try Self.bytes("line(\"x\")", framing: .nul) == [120, 0])
        #expect(try Self.bytes("line(\"x\")", framing: .u16) == [0, 1, 120])
        #expect(try Self.bytes("line(\"x\")", framing: .netstring) == Array("1:x,".utf8))
        #expect(try Self.bytes("line(\"x\")", framing: .delimiter(Array("END".utf8))) == Array("xEND".utf8))
        #expect(try Self.bytes("u24(66051)") == [1, 2, 3])
        #expect(throws: EvaluationError.self) { try Self.bytes("line(\"x\")", framing: .none) }
    }

    @Test func filesAreRead() throws {
        #expect(try Self.value("file(\"a/b.bin\")", files: ["a/b.bin": [1, 2]]) == .bytes([1, 2]))
        #expect(throws: EvaluationError.self) { try Self.value("file(\"nope\")") }
        #expect(throws: EvaluationError.self) {
            try Self.value(
                "file(\"${x}\")", variables: ["x": .bytes(Array("../secret".utf8))], files: ["../secret": [1]])
        }
        #expect(throws: EvaluationError.self) {
            try Self.value(
                "file(\"${x}\")", variables: ["x": .bytes(Array("a/../../b".utf8))], files: ["a/../../b": [1]])
        }
    }

    @Test func randomBytesAreReproducible() throws {
        // The first two numbers of SplitMix64 with seed 7, lowest byte first.
        var generator = SplitMix64(seed: 7)
        let first = generator.next()
        let second = generator.next()
        let bytes = try Self.bytes("random(11, seed 7)")
        #expect(bytes.count == 11)
        #expect(bytes[..<8].elementsEqual((0..<8).map { UInt8(truncatingIfNeeded: first >> (8 * $0)) }))
        #expect(bytes[8...].elementsEqual((0..<3).map { UInt8(truncatingIfNeeded: second >> (8 * $0)) }))
        // The reference implementation's first output for the seed 1234567.
        var reference = SplitMix64(seed: 1_234_567)
        #expect(reference.next() == 6_457_827_717_110_365_317)
        #expect(reference.next() == 3_203_168_211_198_807_973)
    }

    @Test(arguments: [
        ("\"a\" * n", 1 << 40), ("\"a\" * n", -1), ("u8(n)", 256), ("u8(n)", -1), ("u32(n)", 1 << 32),
        ("random(n, seed 1)", 1 << 40), ("random(n, seed 1)", -1), ("\"x\" * (1 / n)", 0),
        ("\"x\" * (n * n)", Int.max), ("\"x\" * (n + 1)", Int.max), ("\"x\" * (0 - n - 2)", Int.max),
        ("\"x\" * (n / (0 - 1))", Int.min),
    ])
    func invalidArgumentsAreErrors(_ text: String, _ number: Int) throws {
        #expect(throws: EvaluationError.self) { try Self.value(text, variables: ["n": .integer(number)]) }
    }

    @Test(arguments: ["", "x", "1x", "--1", "+1", "99999999999999999999"])
    func nonDecimalTextIsAnError(_ text: String) throws {
        #expect(throws: EvaluationError.self) {
            try Self.value("\"a\" * int(x)", variables: ["x": .bytes(Array(text.utf8))])
        }
    }

    @Test(arguments: ["a", "a===", "aGk", "aG=k", "=", "aGk=="])
    func invalidBase64IsAnError(_ text: String) throws {
        #expect(throws: EvaluationError.self) {
            try Self.value("base64(x)", variables: ["x": .bytes(Array(text.utf8))])
        }
    }

    @Test func regexesQuoteInterpolatedValues() throws {
        let result = compile("scenario \"x\"\nlet a = \"1.5*\"\nserver S\nS accept\nS expect line /^${a}+$/i\n")
        guard
            case .act(_, .connection(.expect(.line(.regex(let literal), as: nil))), _) = result.plan?.scenario.steps
                .last?.kind
        else {
            Issue.record("\(result.rendered)")
            return
        }
        let scope = BoundScope(variables: ["a": .bytes(Array("1.5*x".utf8))])
        let regex = try Evaluator(scope: scope, sources: result.sources, framing: .crlf).regex(of: literal)
        #expect(regex.containsMatch(in: Array("1.5*X1.5*x".utf8)))
        #expect(!regex.containsMatch(in: Array("1.5*xx".utf8)))
        #expect(!regex.containsMatch(in: Array("1a5*x".utf8)))
    }
}
