import ProbeBase
import ProbeRegex
import ProbeScenario
import Testing

@testable import ProbeEngine

/// Compares `lines in any order` with an exhaustive search.
struct LineMatchingTests {
    /// Whether each line can be assigned to a separate pattern, determined by trying all assignments.
    private func canPlace(_ lines: ArraySlice<Int>, _ fits: [Set<Int>], _ taken: Set<Int>) -> Bool {
        guard let line = lines.first else { return true }
        return fits[line].contains { !taken.contains($0) && canPlace(lines.dropFirst(), fits, taken.union([$0])) }
    }

    private func canComplete(_ lines: ArraySlice<Int>, _ fits: [Set<Int>], _ required: Set<Int>, _ taken: Set<Int>)
        -> Bool
    {
        guard let line = lines.first else { return required.isSubset(of: taken) }
        return fits[line].contains {
            !taken.contains($0) && canComplete(lines.dropFirst(), fits, required, taken.union([$0]))
        }
    }

    @Test(arguments: 0..<200)
    func matchingEqualsExhaustiveSearch(_ seed: Int) throws {
        var generator = SplitMix64(seed: seed)
        let count = 1 + generator.below(5)
        var patterns: [(isOptional: Bool, pattern: ExpectedText)] = []
        var sets: [Set<Int>] = []
        for _ in 0..<count {
            var letters = Set((0..<4).filter { _ in generator.below(2) == 0 })
            if letters.isEmpty { letters = [generator.below(4)] }
            let isOptional = generator.below(3) == 0
            if letters.count == 1, generator.below(2) == 0 {
                patterns.append((isOptional, .value([UInt8(97 + letters.first!)])))
            } else {
                let list = letters.sorted().map { String(UnicodeScalar(UInt8(97 + $0))) }.joined()
                patterns.append((isOptional, .regex(try ByteRegex("^[\(list)]$"))))
            }
            sets.append(letters)
        }
        let required = Set(patterns.indices.filter { !patterns[$0].isOptional })
        var matching = LineMatching(patterns)
        var lines: [Int] = []
        var fits: [Set<Int>] = []
        for _ in 0..<6 {
            let letter = generator.below(4)
            fits.append(Set(patterns.indices.filter { sets[$0].contains(letter) }))
            lines.append(fits.count - 1)
            let fitsStill = canPlace(lines[...], fits, [])
            let isPlaced = matching.add([UInt8(97 + letter)])
            #expect(isPlaced == fitsStill)
            if !fitsStill {
                fits.removeLast()
                lines.removeLast()
            }
            #expect(matching.isComplete == canComplete(lines[...], fits, required, []))
            #expect(matching.open.count == patterns.count - lines.count)
        }
    }

    /// Each line matches one more pattern than the previous line, so assigning a pattern to a line may displace every
    /// other line.
    @Test func displacedLinesAreReassigned() throws {
        let count = 120
        var patterns: [(isOptional: Bool, pattern: ExpectedText)] = []
        for number in 0..<count {
            patterns.append((false, .regex(try ByteRegex("^x{1,\(number + 1)}$"))))
        }
        var matching = LineMatching(patterns)
        // The shortest line arrives last, and must be assigned the first pattern, which no other line matches.
        for length in 1...count {
            let isPlaced = matching.add([UInt8](repeating: 120, count: count + 1 - length))
            #expect(isPlaced)
        }
        #expect(matching.isComplete)
        let isOneTooMany = matching.add([120])
        #expect(!isOneTooMany)
    }
}
