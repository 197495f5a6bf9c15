import ProbeScenario
import Testing

/// Small scripts that might be expensive to check. Each script must be checked in time linear in its length, or be
/// rejected. With exponential or quadratic cost, each test would take more than a minute.
@Suite struct CostTests {
    private static let head = "scenario \"cost\"\nserver S\nclient C -> S\n"
    private static let steps = "C connect\nS accept\nC close\nS expect eof\nS close\n"

    private func doubling(_ levels: Int, in wrapper: (String) -> String) -> String {
        var text = Self.head + "define d0 { note \"x\" }\n"
        for level in 1..<levels { text += "define d\(level) { \(wrapper("do d\(level - 1); do d\(level - 1)")) }\n" }
        return text + "do d\(levels - 1)\n" + Self.steps
    }

    @Test(arguments: ["plain", "do", "for", "either", "together", "retry", "finally"])
    func exponentialDefinitionsAreRefused(_ wrapper: String) {
        let text = doubling(40) { calls in
            switch wrapper {
            case "do": "do { \(calls) }"
            case "for": "for i in 1..2 { \(calls) }"
            case "either": "either { S expect \"a\"; \(calls) } or { S expect \"b\" }"
            case "together": "together { \(calls) }"
            case "retry": "retry every 1ms within 1s { \(calls) }"
            case "finally": "finally { \(calls) }"
            default: calls
            }
        }
        let result = compile(text)
        #expect(result.diagnostics.map(\.id) == [.tooDeep])
        #expect(result.diagnostics.first?.text.contains("1000000") == true)
    }

    @Test func moderatelyNestedDefinitionsCompile() throws {
        let plan = try #require(compile(doubling(12) { $0 }).plan)
        #expect(plan.cases.count == 1)
    }

    /// A definition with many steps is invoked many times. The limit on steps includes all steps of the definition for
    /// each invocation.
    @Test func frequentlyRepeatedLongBlockIsRefused() {
        let note = String(repeating: "note \"x\"\n", count: 3_000)
        let text =
            Self.head + "define d {\ndo {\n\(note)}\n}\n" + String(repeating: "do d\n", count: 3_000) + Self.steps
        #expect(compile(text).diagnostics.map(\.id) == [.tooDeep])
    }

    /// Each loop's body is checked twice, and so is the body of each enclosing loop, so the cost could double with each
    /// level.
    @Test func nestedLoopsAreCheckedQuickly() {
        let depth = 46
        let text =
            Self.head + "C connect\nS accept\n" + String(repeating: "for i in 1..2 {\n", count: depth)
            + String(repeating: "note \"x\"\n", count: 3_000) + String(repeating: "}\n", count: depth)
            + "C close\nS expect eof\nS close\n"
        #expect(compile(text).plan != nil)
    }

    @Test func equalLabelsAreNumbered() throws {
        let values = Array(repeating: "\"a\"", count: 20_000).joined(separator: ", ")
        let plan = try #require(compile(Self.head + "each x = \(values)\n" + Self.steps).plan)
        #expect(plan.cases[0].label == "[x=a]")
        #expect(plan.cases[19_999].label == "[x=a#20000]")
        #expect(Set(plan.cases.map(\.label)).count == 20_000)
    }

    // MARK: Values

    @Test(arguments: [
        "random(100MiB, seed 1)", "\"ab\" * 100MiB", "sized(u32, random(90MiB, seed 1)) + \"x\"",
        "line(\"x\" * 2MiB)", "lines(\"x\" * 2MiB, \"y\" * 2MiB)", "(\"a\" * 3MiB) + \"b\"",
    ])
    func largeValuesAreComputedDuringTheRun(_ value: String) throws {
        let text = Self.head + "let x = \(value)\nlet y = \"<${x}>\"\nlet n = len(y)\neach i = 1..n / n\n" + Self.steps
        let plan = try #require(compile(text.replacing("each i = 1..n / n", with: "each i = 1..(n / n)")).plan)
        #expect(Set(plan.cases[0].bindings.keys) == ["n", "i"])
    }

    @Test func oversizedHeadersAreRefused() {
        var lets = ""
        for number in 0..<40 { lets += "let v\(number) = random(100MiB, seed \(number))\n" }
        let result = compile(Self.head + lets + Self.steps)
        #expect(result.diagnostics.map(\.id) == [.cantCompute])
        #expect(result.diagnostics.first?.text.contains("512 MiB") == true)
    }

    @Test(arguments: [
        "each x = random(100MiB, seed 1), 1", "each x = \"a\" * 33MiB, \"b\" * 33MiB", "each x = \"a\" * 100MiB",
        "table t = \"a\" * 33MiB /a/, \"b\" * 33MiB /b/\neach x, y in t",
        "each n = 1..3000\neach x = \"a\" * (100KiB + n)",
    ])
    func oversizedCasesAreRefused(_ header: String) {
        let result = compile(Self.head + header + "\n" + Self.steps)
        #expect(result.diagnostics.map(\.id) == [.cantCompute])
        #expect(result.diagnostics.first?.text.contains("64 MiB") == true)
    }

    /// Large values that depend on an `each` are computed for each case during the run.
    @Test func largeValuesOfManyCasesAreComputedDuringTheRun() throws {
        let text = Self.head + "each n = 1..2000\nlet x = \"a\" * (n * 10KiB)\nlet y = len(x)\n" + Self.steps
        let plan = try #require(compile(text).plan)
        #expect(plan.cases.last?.bindings["x"] == nil)
        #expect(plan.cases.last?.bindings["y"] == .integer(2_000 * 10_240))
        #expect(plan.cases.reduce(0) { $0 + ($1.bindings["x"]?.size ?? 0) } <= 64 << 20)
    }

    /// Cases share the values of variables that are the same in all cases.
    @Test func casesShareTheirBindings() throws {
        var lets = ""
        for number in 0..<2_000 { lets += "let v\(number) = \"x\"\n" }
        let plan = try #require(compile(Self.head + lets + "each n = 1..20000\n" + Self.steps).plan)
        #expect(plan.cases.count == 20_000)
        #expect(plan.cases[19_999].bindings.count == 2_001)
    }

    @Test func parameterMayDependOnALargeFile() throws {
        let header = "let x = \"7\" + (\"a\" * 2MiB)\nlet s = file(\"seven\")\neach n = 1..int(s)\n"
        let text = Self.head + header + Self.steps
        #expect(compile(text, files: ["seven": "7"]).plan?.cases.count == 7)
        let wrong = compile(Self.head + "let x = \"a\" * 2MiB\neach n = 1..int(x)\n" + Self.steps)
        #expect(wrong.diagnostics.map(\.id) == [.wrongType])
    }

    @Test func moreThanSixtyFourParametersAreRefused() {
        var header = ""
        for number in 0..<65 { header += "each x\(number) = 1\n" }
        #expect(compile(Self.head + header + Self.steps).diagnostics.map(\.id) == [.tooManyCases])
    }

    // MARK: Names

    /// A script with a misspelled name in each line, and equally many names that may have been meant.
    @Test func manyErrorsAmongManyNamesAreReported() {
        var text = "scenario \"cost\"\n"
        for number in 0..<300 { text += "server S\(number)\n" }
        for number in 0..<300 { text += "X\(number) send \"a\"\n" }
        for number in 0..<300 { text += "let v\(number) = 1\nnote \"${w\(number)}\"\n" }
        for number in 0..<300 { text += "do d\(number)\n" }
        #expect(compile(text).diagnostics.count == 501)
    }

    @Test func manyBranchesWithDistinctNamesAreChecked() {
        let branches = (0..<3_000).map { "{ S expect line /(?<a\($0)>x)/ }" }.joined(separator: " or ")
        #expect(compile(Self.head + "C connect\nS accept\neither \(branches)\nnote \"${a7}\"\n").diagnostics.count == 1)
    }

    @Test func manyLoopsOverALongTableCompile() {
        let rows = (0..<3_000).map { "\"a\($0)\" /(?<g\($0)>x)/" }.joined(separator: ",\n")
        let loops = String(repeating: "for a, b in t { note a }\n", count: 3_000)
        let text =
            Self.head + "table t = \(rows)\n" + "C connect\nS accept\n" + loops + "C close\nS expect eof\nS close\n"
        #expect(compile(text).plan != nil)
    }
}
