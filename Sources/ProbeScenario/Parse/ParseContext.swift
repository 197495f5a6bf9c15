/// The state that the parsers of all files of a scenario share and fill.
final class ParseContext {
    var sources: SourceMap
    var diagnostics = Diagnostics()
    var scenario = Scenario(title: Name("", SourceSpan(start: 0, end: 0)))
    /// Whether the scenario's file is not text.
    var isUnreadable = false
    /// The evidence that the file is a scenario rather than some other text.
    var evidence = ScenarioEvidence()
    /// The kinds of the actors seen so far, which determine the available verbs.
    var actorKinds: [String: ActorKind] = [:]
    /// The kind of the actor whose step is being parsed; `nil` if unknown.
    var actingKind: ActorKind?
    /// The names that the header declares.
    var declarations: [String: SourceSpan] = [:]
    var definitionNames: [String: Name] = [:]
    /// The words of statements that could not be parsed. Further errors about these words are probably consequences of
    /// the first error, so they are not reported.
    var doubtful: Set<String> = []
    /// The definitions in the header, in source order.
    var headerOrder: [HeaderItem] = []
    /// The variables whose values are integers, as far as one pass can determine.
    var integerNames: Set<String> = []
    var stepCount = 0
    /// The first statement of the scenario itself, excluding statements in includes.
    var firstStatement: SourceSpan?
    var titleStatement: SourceSpan?
    var firstStep: SourceSpan?
    /// The places of the parsed statements that are allowed only once, keyed by their keyword.
    var given: [String: SourceSpan] = [:]
    let loader: FileLoader
    /// The paths of the files being parsed, the scenario first.
    var includeStack: [String]
    /// The paths of the files that have been parsed completely. Including such a file again has no effect.
    var included: Set<String> = []

    /// The names of actors that have steps before their declaration, which follows later in the file or in an included
    /// file.
    private(set) var namesOfUnknownKind: Set<String> = []
    /// The kinds of actors that an earlier pass over the same files has found; see ``ScenarioCompiler``.
    let kindsKnownBefore: [String: ActorKind]

    init(
        path: String, bytes: [UInt8], kindsKnownBefore: [String: ActorKind] = [:], loader: @escaping FileLoader
    ) {
        self.kindsKnownBefore = kindsKnownBefore
        sources = SourceMap([SourceFile(path: path, bytes: bytes)])
        self.loader = loader
        includeStack = [path]
    }

    enum HeaderItem {
        // The integer is an index into the scenario's list of parameters or of constants.
        case parameter(Int)
        case constant(Int)
        case table(String)
    }

    // MARK: Diagnostics

    func report(
        _ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        diagnostics.add(Diagnostic(Diagnostic.Message(id, text, hint: hint), span: span, notes: notes))
    }

    /// Reports a message. If there are already too many errors, the message is not created at all, because creating it
    /// may require a search for a similar name.
    func report(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        guard !diagnostics.isFull else { return }
        let message = message()
        diagnostics.add(Diagnostic(message, span: span, notes: notes))
    }

    // MARK: Names

    /// Records that the header declares a name.
    func declare(_ name: Name, as what: String) {
        if let earlier = declarations[name.value] {
            report(
                .duplicate(name.value), at: name.span,
                notes: [Diagnostic.Note("`\(name.value)` is first declared here", span: earlier)])
        } else {
            declarations[name.value] = name.span
        }
    }

    /// Records that `accept as` names a connection. Elsewhere in the script, a connection of a subject may have the
    /// same name.
    func bindActor(_ name: String, _ kind: ActorKind) {
        if declarations[name] == nil { actorKinds[name] = kind }
    }

    /// Returns the kind of a name that is not declared at this point in the text; `nil` if the kind is still unknown.
    func kindOfUndeclared(_ name: String) -> ActorKind? {
        if let kind = kindsKnownBefore[name] { return kind }
        namesOfUnknownKind.insert(name)
        return nil
    }

    /// Whether any steps were parsed as steps of a connection although their actor is of another kind.
    var needsSecondReading: Bool {
        namesOfUnknownKind.contains { name in
            actorKinds[name].map { [.subject, .process, .proxy, .crowd].contains($0) } ?? false
        }
    }

    func nextStepID() -> Int {
        defer { stepCount += 1 }
        return stepCount
    }
}

extension ParseContext {
    /// Runs the checks that require all files, and applies the values of `--set`.
    func finish(settings: [String: [UInt8]]) {
        let start = SourceSpan(file: 0, start: 0, end: 0)
        guard let firstStatement else {
            if !diagnostics.hasErrors {
                report(
                    .emptyScript, "the script is empty",
                    hint: "start the script with a title: `scenario \"what it "
                        + "shows\"`",
                    at: start)
            }
            return
        }
        if let titleStatement {
            if titleStatement != firstStatement {
                let note = Diagnostic.Note("the title is here", span: titleStatement)
                report(
                    .scenarioNotFirst, "the title of a script must come first",
                    hint: "put `scenario \"what it shows\"` before this statement", at: firstStatement, notes: [note])
            }
        } else {
            report(
                .missingScenario, "the scenario has no title",
                hint: "start the script with `scenario \"what it shows\"`", at: firstStatement)
        }
        if scenario.steps.isEmpty, !diagnostics.hasErrors {
            report(
                .emptyScript, "the scenario has no steps, so it would test nothing",
                hint: "add steps after the actors, such as `S accept`", at: scenario.title.span)
        }
        apply(settings)
    }

    private func apply(_ settings: [String: [UInt8]]) {
        let names = scenario.constants.map(\.name.value)
        for (name, bytes) in settings.sorted(by: { $0.key < $1.key }) {
            guard let index = names.firstIndex(of: name) else {
                report(.unknownSetting(name, names), at: scenario.title.span)
                continue
            }
            let old = scenario.constants[index].value
            if integerNames.contains(name), let number = Int(String(decoding: bytes, as: UTF8.self)) {
                scenario.constants[index].value = Expression(.integer(number), span: old.span)
            } else {
                scenario.constants[index].value = Expression(.string([.text(bytes)]), span: old.span)
            }
        }
    }
}

extension Diagnostic.Message {
    static func unknownSetting(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownSetting, "this scenario has no `let \(name)` to set",
            hint: names.isEmpty
                ? "write `let \(name) = …` before the first step" : didYouMean(name, names, "use one of:"))
    }
}
