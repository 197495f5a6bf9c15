import ProbeRegex
import ProbeScenario
import Testing

/// Tests that matching takes linear time and never traps, for any pattern and any input.
struct RegexBoundsTests {
    @Test(arguments: ["^(a+)+$", "(?:a|a)*b", "(?:a*)*b", "(?:a?){50}a{50}b", "(?<x>a|aa)+$", "(?:.*)*b"])
    func pathologicalPatternsTakeLinearTime(_ pattern: String) throws {
        let regex = try ByteRegex(pattern)
        var cost: [Int] = []
        for count in [2_000, 20_000] {
            let input = [UInt8](repeating: 0x61, count: count) + [0x21]
            var steps = 0
            #expect(regex.firstMatch(in: input.span, steps: &steps) == nil)
            cost.append(steps)
        }
        #expect(cost[1] <= cost[0] * 11)
        #expect(cost[1] <= 20_002 * 300)
    }

    @Test func stepsPerByteAreBounded() throws {
        let input = [UInt8](repeating: 0x61, count: 100_000) + [0x21]
        var steps = 0
        #expect(try ByteRegex("^(a+)+$").firstMatch(in: input.span, steps: &steps) == nil)
        #expect(steps < 600_000)
    }

    @Test func anchoredPatternGivesUpAtOnce() throws {
        let input = [UInt8](repeating: 0x62, count: 100_000)
        var steps = 0
        #expect(try ByteRegex("^a").firstMatch(in: input.span, steps: &steps) == nil)
        #expect(steps < 10)
    }

    @Test func impossibleStartsCostNoSteps() throws {
        let input = [UInt8](repeating: 0x62, count: 100_000) + [0x61]
        var steps = 0
        let match = try ByteRegex("a+").firstMatch(in: input.span, steps: &steps)
        #expect(match?.range == 100_000..<100_001)
        #expect(steps < 20)
    }

    /// Random patterns made of fragments of the syntax. Most contain an error, but many are valid.
    @Test(arguments: 0..<20)
    func arbitraryPatternsNeverTrap(_ seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        let pieces: [String] = [
            "(", ")", "(?:", "(?<a>", "(?<b>", "(?P<c>", "(?i)", "(?s:", "(?=", "(?", "[", "]", "[^", "-", "[:alpha:]",
            "a", "b", "é", "€", ".", "^", "$", "|", "*", "+", "?", "{2}", "{0,3}", "{,", "{9999}", "{1,", "}", "\\",
            "\\x",
            "\\x41", "\\u{e9}", "\\u{", "\\d", "\\W", "\\b", "\\B", "\\z", "\\0", "\\1", "\n", "\0", "/", ",", "<", ">",
        ]
        var legal = 0
        for _ in 0..<1_000 {
            var pattern: [UInt8] = []
            for _ in 0..<Int(random.next() % 12) { pattern += pieces[Int(random.next() % UInt64(pieces.count))].utf8 }
            if random.next() % 8 == 0 { pattern.append(UInt8(truncatingIfNeeded: random.next())) }
            let input = (0..<Int(random.next() % 24)).map { _ in
                random.next() % 4 == 0 ? UInt8(truncatingIfNeeded: random.next()) : 0x61 + UInt8(random.next() % 3)
            }
            do {
                let regex = try ByteRegex(bytes: pattern, ignoresCase: random.next() % 2 == 0)
                legal += 1
                if let match = regex.firstMatch(in: input) {
                    #expect(match.range.upperBound <= input.count)
                    for group in match.groups.compactMap(\.range) {
                        #expect(group.lowerBound >= match.range.lowerBound)
                        #expect(group.upperBound <= match.range.upperBound)
                    }
                }
            } catch {
                #expect(error.offset <= pattern.count)
                #expect(!error.message.isEmpty)
            }
        }
        #expect(legal > 50)
    }

    /// A small generator of random numbers with a seed, so that a run can be repeated.
    struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
