import ProbeBase
import Testing

@testable import ProbeScenario

/// No input may make the compiler trap or hang, and the result must always be a plan or an error.
@Suite struct HostileInputTests {
    private static let whole = TestFiles.bytes(of: "whole-language.scn")

    private func isAnswered(_ bytes: [UInt8]) -> Bool {
        let result = ScenarioCompiler.compile(path: "x.scn", bytes: bytes) { (_) throws(LoadError) in
            Array("let included = 1\ndefine x { wait 1ms }".utf8)
        }
        // The rendered text must be safe for a terminal.
        let drawn = DiagnosticRenderer(sources: result.sources).render(Array(result.diagnostics.prefix(20)))
        let isSafe = drawn.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A }
        return isSafe && (result.plan != nil) != result.diagnostics.contains { $0.severity == .error }
    }

    @Test(arguments: 0..<40)
    func randomBytesAreAnswered(_ seed: Int) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<10 {
            let bytes = generator.bytes(generator.below(600))
            #expect(isAnswered(bytes))
            #expect(isAnswered(bytes.map { $0 & 0x7F }))
        }
    }

    @Test(arguments: 0..<40)
    func randomWordsAreAnswered(_ seed: Int) {
        let words = [
            "scenario", "\"x\"", "\n", "server", "S", "client", "C", "->", "connect", "accept", "send", "expect",
            "line", "/a/",
            "as", "x", "{", "}", "(", ")", "|", "+", "*", "-", "/", "1", "30ms", "..", ",", "=", "either", "or", "for",
            "in",
            "do", "define", "wire", "bytes", "segments", ">=", "hex(", "\"${", "}\"", "'", "process", "P", "each",
            "cuts(",
            "table", "let", "within", "after", ";", "together", "finally", "whenever", "retry", "every", "\r\n", "\t",
            "#",
            "include", "[", "]", "until", "any", "u16", "random(", "seed", "\\", "\u{1F600}", "\u{FEFF}", "<->", "<",
            "%",
        ]
        var generator = SplitMix64(seed: seed &+ 1_000)
        for _ in 0..<10 {
            var text = "scenario \"x\"\nserver S\nclient C -> S\n"
            for _ in 0..<generator.below(120) { text += words[generator.below(words.count)] + " " }
            #expect(isAnswered(Array(text.utf8)), "\(text)")
        }
    }

    @Test(arguments: 0..<40)
    func mutationsOfAValidScriptAreAnswered(_ seed: Int) {
        var generator = SplitMix64(seed: seed &+ 2_000)
        for _ in 0..<3 {
            var bytes = Self.whole
            for _ in 0..<(1 + generator.below(8)) {
                let place = generator.below(bytes.count)
                switch generator.below(4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(generator.below(128)), at: place)
                default:
                    let end = min(bytes.count, place + generator.below(40))
                    bytes.insert(contentsOf: bytes[place..<end], at: generator.below(bytes.count))
                }
            }
            #expect(isAnswered(bytes))
        }
    }

    /// Every prefix of an example in the language table must result in a plan or an error.
    @Test(arguments: LanguageTable.all)
    func everyPrefixOfAnExampleIsAnswered(_ listed: ListedEntry) {
        let text = Array(ExampleScript.text(of: listed).utf8)
        for end in 0...text.count { #expect(isAnswered(Array(text[..<end]))) }
    }

    @Test func everyPrefixOfAValidScriptIsAnswered() {
        let text = Array(FirstExampleTests.script.utf8)
        for end in 0...text.count { #expect(isAnswered(Array(text[..<end]))) }
    }

    @Test(arguments: [
        "(", "{", "do {", "either {", "either { S expect \"a\" } or ", "for i in 1..2 {", "u8(", "\"a\" * ",
    ])
    func deepNestingIsAnswered(_ part: String) {
        for start in ["scenario \"x\"\nserver S\n", "scenario \"x\"\nserver S\nS send "] {
            #expect(isAnswered(Array((start + String(repeating: part, count: 4_000)).utf8)))
        }
    }

    @Test(arguments: ["+", "-", "*", "|", ","])
    func longExpressionsAreAnswered(_ sign: String) {
        let sum = Array(repeating: "1", count: 4_000).joined(separator: sign)
        for start in ["let x = ", "S send ", "each x = ", "check 1 == "] {
            #expect(isAnswered(Array("scenario \"x\"\nserver S\nS accept\n\(start)\(sum)\n".utf8)))
        }
    }
}
