import Testing

@testable import ProbeScenario

/// Tests the entries of the language table: their examples, their order in messages, and the files that are generated
/// from the table.
@Suite struct LanguageTableTests {
    /// The diagnostics that an example may have because it is incomplete: it contains no expectation, or an actor does
    /// nothing.
    private static let incomplete: Set<DiagnosticID> = [.nothingTested, .unusedActor]

    @Test(arguments: LanguageTable.all)
    func exampleCompilesAndIsFormatted(_ listed: ListedEntry) throws {
        let script = ExampleScript.text(of: listed)
        let result = compile(script, files: ExampleScript.files)
        let errors = result.diagnostics.filter { !Self.incomplete.contains($0.id) }
        #expect(errors.isEmpty, "\(script)\(result.rendered)")
        guard case .formatted(let bytes) = ScenarioFormatter.format(path: "x.scn", bytes: Array(script.utf8)) else {
            Issue.record("\(script) can't be formatted")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        let example = listed.category == .function ? nil : listed.example
        if let example, !example.contains("{") { #expect(lines.contains(example), "\(lines)") }
    }

    /// The statement parsed from an example must correspond to the example's own entry.
    @Test(
        arguments: LanguageTable.all.filter {
            // The example of an expectation about a proxy is parsed as an expectation about a connection, which has its
            // own entry.
            [.verb, .expectation, .wire].contains($0.category) && !["expect", "expect … from"].contains($0.name)
        })
    func exampleIsParsedAsItsEntry(_ listed: ListedEntry) throws {
        let script = ExampleScript.text(of: listed)
        switch Self.parsed(script).last?.kind {
        case .act(_, let action, _)?:
            #expect(action.entry.spelling == listed.entry.spelling)
            #expect(action.isOf(listed.kind ?? .connection))
        case .wire(let statement, _)?: #expect(statement.spelling == listed.entry.spelling)
        default: Issue.record("\(script) ends with neither an act nor a statement about the wire")
        }
    }

    /// Each timing clause is either judged by the run or rejected by the checker with the reason given in the
    /// language's table.
    @Test(
        arguments: LanguageTable.all.filter {
            [.verb, .expectation, .wire].contains($0.category) && $0.name != "expect"
        },
        ["within", "after"])
    func clauseIsRefusedAccordingToTheTable(_ listed: ListedEntry, _ word: String) throws {
        let timing = try #require(listed.entry.timing)
        let refusal = word == "within" ? timing.within.refusal : timing.after.refusal
        let script = ExampleScript.text(of: listed).dropLast() + " \(word) 200ms\n"
        let result = compile(String(script), files: ExampleScript.files)
        #expect(
            result.diagnostics.contains { $0.id == .timingNotHere } == (refusal != nil), "\(script)\(result.rendered)")
    }

    private static func parsed(_ script: String) -> [Step] {
        let context = ParseContext(path: "x.scn", bytes: Array(script.utf8)) { _ throws(LoadError) in throw .notFound }
        FileParser.parse(file: 0, bytes: Array(script.utf8), into: context, isInclude: false)
        return context.scenario.steps
    }

    @Test func entriesAreUnique() {
        var seen: Set<String> = []
        for listed in LanguageTable.all {
            let key = "\(listed.name) of \(listed.kind?.rawValue ?? "\(listed.category)")"
            #expect(seen.insert(key).inserted, "\(key)")
        }
    }

    @Test func everyEntryHasAMeaning() {
        for listed in LanguageTable.all {
            let others = LanguageTable.all.filter { $0.category == listed.category && $0.kind == listed.kind }
            let isSaid =
                !listed.entry.meaning.isEmpty
                || others.contains { $0.entry.word == listed.entry.word && !$0.entry.meaning.isEmpty }
            #expect(isSaid || listed.entry.spelling.first == "u" || listed.entry.spelling == "varint", "\(listed.name)")
            #expect(!listed.entry.example.isEmpty)
        }
    }

    /// Every entry that the reference shows has an example in the reference, in a scenario that is run or checked. All
    /// other entries are used in `whole-language.scn`.
    @Test func everyEntryIsUsedInAScenario() throws {
        let reference = Self.scenarios(of: Self.pages.map(\.text).joined())
        let whole = TestFiles.text(of: "whole-language.scn").split(separator: "\n")
        #expect(reference.count > 300)
        for listed in LanguageTable.all {
            let isShown = listed.entry.choice != nil && !listed.entry.rows.isEmpty
            let isUsed = (isShown ? reference : reference + whole).contains { Self.uses($0, listed) }
            #expect(isUsed, "\(listed.name)")
        }
    }

    private static func uses(_ line: Substring, _ listed: ListedEntry) -> Bool {
        // The `…` represents a value, so only the words before it are searched for.
        let words = listed.entry.spelling.prefix { $0 != "…" }.split(separator: " ").joined(separator: " ")
        return switch listed.category {
        case .header: line.hasPrefix(words)
        case .step: line.contains("\(words) ")
        case .verb: line.contains(" \(words)")
        case .expectation: line.contains("expect \(words)") || ["bytes", "… bytes"].contains(listed.entry.spelling)
        case .wire: line.contains("wire ") && line.contains(" \(words)")
        case .link: line.contains("link ") && line.contains(" \(words)")
        case .member: line.contains(" \(words)")
        case .function: line.contains("\(words)(")
        }
    }

    /// The pages of the reference, by their names without `.md`: `README.md` and the pages to which it links.
    private static let pages: [(name: String, text: String)] = {
        let index = TestFiles.text(of: "../../docs/language/README.md")
        let names = Set(index.matches(of: /\]\(([\w-]+)\.md\)/).map { String($0.1) }).sorted()
        return [("README", index)] + names.map { ($0, TestFiles.text(of: "../../docs/language/\($0).md")) }
    }()

    /// Returns the lines of a page's scenarios, except lines that are wrong on purpose.
    private static func scenarios(of page: String) -> [Substring] {
        var lines: [Substring] = []
        var isInScenario = false
        for line in page.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInScenario = line.hasPrefix("```scn") && !line.hasSuffix("wrong")
            } else if isInScenario {
                lines.append(line)
            }
        }
        return lines
    }

    /// The golden texts of wrong scripts refer to lists of choices by name, so the contents of the lists are tested
    /// here.
    @Test(arguments: [
        (LanguageTable.verbChoices(of: .subject), "start, send, expect, half-close"),
        (
            LanguageTable.verbChoices(of: .server),
            "accept, listen, stop listening, reboot, send, start sending, expect, close"
        ),
        (LanguageTable.verbChoices(of: .process), "start, expect, send, signal, stop"),
        (LanguageTable.expectationChoices(of: .server), "no connection, line, lines in any order, until line"),
        (LanguageTable.expectationChoices(of: .process), "listening, output, no output, exit"),
        (LanguageTable.verbChoices(of: .crowd), "start, expect, stop"),
        (LanguageTable.expectationChoices(of: .crowd), "connected, alive, failed, done, latency"),
        (WirePhrases.choices, "fin from, rst from, no rst, closed by"),
    ])
    func choicesHaveTheOrderOfTheTable(_ choices: [String], _ first: String) {
        #expect(choices.joined(separator: ", ").hasPrefix(first))
    }

    /// The files that `make editors` generates are up to date.
    @Test(arguments: GeneratedFile.allCases)
    func generatedFilesMatchTheTable(_ file: GeneratedFile) throws {
        let source = TestFiles.text(of: "../../\(file.source)")
        let text = try #require(file.text(from: source))
        #expect(text == TestFiles.text(of: "../../\(file.path)"), "make editors")
    }

    /// The reference lists every page with tables; otherwise, the tables of a page would no longer be generated.
    @Test func pagesListTheTablesOfTheReference() {
        for page in Self.pages {
            let tables = page.text.matches(of: /<!-- table: ([a-z ]+) -->/).map { String($0.1) }
            let listed = LanguageReference.pages.first { $0.name == page.name }?.tables ?? []
            #expect(tables == listed, "\(page.name)")
        }
        #expect(Set(LanguageReference.pages.map(\.name)).isSubset(of: Self.pages.map(\.name)))
    }

    @Test(arguments: [
        ("stop reading", ["stop reading", "stop reading", "member stop reading"]),
        ("expect leftover", ["expect leftover"]), ("gap", ["wire gap"]), ("latency", ["expect latency"]),
        ("repeat", ["member repeat"]),
        ("wire no", ["wire no rst", "wire no retransmission"]), ("stalled", ["expect stalled for"]), ("hex", ["hex"]),
        ("retry", ["retry"]), ("nonsense", []),
    ])
    func entriesAreFoundByWords(_ words: String, _ names: [String]) {
        #expect(LanguageTable.find(words).map(\.name) == names)
    }
}
