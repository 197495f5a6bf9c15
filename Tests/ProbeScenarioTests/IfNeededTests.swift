import Testing

@testable import ProbeScenario

/// `if needed` is allowed only after statements for which the language table allows it.
@Suite struct IfNeededTests {
    private static let incomplete: Set<DiagnosticID> = [.nothingTested, .unusedActor]

    /// The steps in the language table, except steps whose example has more than one line.
    private static let steps = LanguageTable.all.filter {
        [.step, .verb, .link, .header].contains($0.category) && $0.name != "expect"
    }

    @Test(arguments: steps.filter(\.entry.canBeUnneeded))
    func ifNeededIsAcceptedWhereAllowed(_ listed: ListedEntry) {
        let script = ExampleScript.text(of: listed).replacing(listed.example, with: "\(listed.example) if needed")
        let result = compile(script, files: ExampleScript.files)
        let errors = result.diagnostics.filter { !Self.incomplete.contains($0.id) }
        #expect(errors.isEmpty, "\(script)\(result.rendered)")
        #expect(formatted(script).contains { $0.hasSuffix(" if needed") }, "\(script)")
        #expect(EntryExplanation.text(of: listed).contains("if needed: allowed"))
    }

    @Test(arguments: steps.filter { !$0.entry.canBeUnneeded && $0.category != .header && $0.name != "framing" })
    func ifNeededIsRefusedElsewhere(_ listed: ListedEntry) {
        let script = ExampleScript.text(of: listed).dropLast() + " if needed\n"
        let result = compile(String(script), files: ExampleScript.files)
        #expect(result.plan == nil, "\(script)")
    }

    private func formatted(_ script: String) -> [String] {
        guard case .formatted(let bytes) = ScenarioFormatter.format(path: "x.scn", bytes: Array(script.utf8)) else {
            return []
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        ("server S\nclient C -> S\nC connect\nS accept\nS send \"a\" if needed", false),
        ("server S\nclient C -> S\nC connect\nS accept\nS framing u16 if needed", false),
        ("server S\nsubject T -> S\nT start\nS accept\nT framing u16 if needed", false),
        ("server S\nsubject T -> S\nT start\nS accept\nT framing u16 behind 1 line if needed", true),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C drop data if needed\nC connect", true),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C drop data 3 again if needed\nC connect", true),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C unreachable if needed\nC connect", true),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C mtu 1280 silent if needed\nC connect", true),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C down if\nC connect", false),
        ("server S\nclient C -> S\nlink S <-> C\nlink S -> C down if needed if needed\nC connect", false),
        ("server S\nproxy X -> S\nclient C -> X\nX forward 3 bytes to client joined if needed\nC connect", true),
        ("server S\nproxy X -> S\nclient C -> X\nX release if needed\nC connect", true),
        ("server S\nproxy X -> S\nclient C -> X\nC connect\nX accept if needed", false),
        ("server S\nclient C -> S\nC connect\nS accept\nwhenever C gets line /a/ { note \"a\" } if needed", true),
    ])
    func ifNeededIsParsedAsAClause(_ body: String, _ isRight: Bool) {
        let result = compile("scenario \"x\"\n\(body)\n")
        let errors = result.diagnostics.filter { !Self.incomplete.contains($0.id) }
        #expect(errors.isEmpty == isRight, "\(body)\n\(result.rendered)")
        guard isRight, let scenario = result.plan?.scenario else { return }
        #expect(scenario.steps.contains { $0.isOptional }, "\(body)")
    }
}
