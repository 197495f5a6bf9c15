import ProbeScenario
import Testing

/// A value from a variable has the same range as a literal.
@Suite struct IntegerRangeTests {
    private static let links = "server S\nclient C -> S\nlink S <-> C\n"
    private static let plain = "server S\nclient C -> S\nC connect\nS accept\n"

    /// Scripts in which `@` is a placeholder for a number, each with the range of valid numbers.
    static let places: [(script: String, range: ClosedRange<Int>)] = [
        (links + "link S -> C truncate data 1 to @", 1...1_500),
        (links + "link S <-> C mtu @ silent", 68...1_500),
        (links + "link S -> C clamp mss @", 88...1_460),
        (links + "link S -> C drop data @", 1...1_000_000_000),
        (plain + "C read @ every 1ms", 1...Int.max),
        (plain + "S send \"a\"\nC expect \"a\"\nwire S -> C segments >= @", 0...Int.max),
        (plain + "S send \"a\"\nC expect \"a\"\nwire packets >= @", 0...Int.max),
    ]

    private func compiled(_ script: String, _ number: String, header: String = "") -> CompilationResult {
        let text = "scenario \"x\"\n\(header)\n" + script.replacing("@", with: number)
        return compile(text)
    }

    @Test(arguments: places.indices)
    func runUsesTheCheckersRange(index: Int) {
        let (script, range) = Self.places[index]
        let below = compiled(script, "(\(range.lowerBound) - 1)")
        #expect(below.diagnostics.contains { $0.id == .outOfRange }, "\(below.rendered)")
        let known = compiled(script, "n", header: "each n = 1, 2")
        let ranges = known.plan?.scenario.integerRanges.values.map(\.values) ?? []
        #expect(ranges.contains(range), "\(known.rendered)")
    }
}
