/// The verbs and expectations of all kinds of actors, grouped by kind.
package enum LanguageTable {
    // MARK: For the parser

    /// Returns the phrases that can follow the name of an actor: the verbs of the actor's kind, and the verbs of other
    /// kinds, which the checker can then reject by name.
    static func verbs(of kind: ActorKind?) -> PhraseIndex<ActionParser, Action> {
        switch kind {
        case .server: serverVerbs
        case .client: clientVerbs
        case .subject: subjectVerbs
        case .process: processVerbs
        case .proxy: proxyVerbs
        case .crowd: crowdVerbs
        case .connection, .link, nil: connectionVerbs
        }
    }

    /// Returns the phrases that can follow `expect`.
    static func expectations(of kind: ActorKind?) -> PhraseIndex<ExpectationParser, Action> {
        switch kind {
        case .server: serverExpectations
        case .subject: subjectExpectations
        case .process: processExpectations
        case .crowd: crowdExpectations
        case .client, .connection, .proxy, .link, nil: connectionExpectations
        }
    }

    private static let serverVerbs = index(verbs, of: .server)
    private static let clientVerbs = index(verbs, of: .client)
    private static let connectionVerbs = index(verbs, of: .connection)
    private static let subjectVerbs = index(verbs, of: .subject)
    private static let processVerbs = index(verbs, of: .process)
    private static let proxyVerbs = index(verbs, of: .proxy)
    private static let crowdVerbs = index(verbs, of: .crowd)
    private static let serverExpectations = index(expectations, of: .server)
    private static let connectionExpectations = index(expectations, of: .connection)
    private static let subjectExpectations = index(expectations, of: .subject)
    private static let processExpectations = index(expectations, of: .process)
    /// The expectations of a crowd. These expectations are not indexed for other kinds of actors, for which the words
    /// can be variables: `C expect done`.
    private static let crowdExpectations = index(numbered(expectationsOfCrowds) + expectations, of: .crowd)

    /// The candidate phrases are built once for the indices of all kinds of actors, because building them adds to the
    /// program's startup time.
    private typealias Candidates<Reader: GrammarPart> = [(
        kind: ActorKind, candidate: PhraseIndex<Reader, Action>.Candidate
    )]

    private static let verbs: Candidates<ActionParser> = numbered(
        ServerAction.phrases.map { (.server, $0.map(Action.server)) }
            + ClientAction.phrases.map { (.client, $0.map(Action.client)) }
            + ConnectionAction.phrases.map { (.connection, $0.map(Action.connection)) }
            + SubjectAction.phrases.map { (.subject, $0.map(Action.subject)) }
            + ProcessAction.phrases.map { (.process, $0.map(Action.process)) }
            + ProxyAction.phrases.map { (.proxy, $0.map(Action.proxy)) }
            + CrowdAction.phrases.map { (.crowd, $0.map(Action.crowd)) })

    private static let expectations: Candidates<ExpectationParser> = numbered(
        ServerExpectation.phrases.map { (.server, $0.map { .server(.expect($0)) }) }
            + ConnectionExpectationPhrases.all.map { (.connection, $0.map { .connection(.expect($0)) }) }
            + SubjectExpectation.phrases.map { (.subject, $0.map { .subject(.expect($0)) }) }
            + ProcessExpectation.phrases.map { (.process, $0.map { .process(.expect($0)) }) })

    private static let expectationsOfCrowds: [(kind: ActorKind, phrase: Phrase<ExpectationParser, Action>)] =
        CrowdExpectation.phrases.map { (.crowd, $0.map { .crowd(.expect($0)) }) }

    private static func numbered<Reader>(
        _ phrases: [(kind: ActorKind, phrase: Phrase<Reader, Action>)]
    ) -> Candidates<Reader> {
        phrases.enumerated().map { ($1.kind, PhraseIndex<Reader, Action>.Candidate($1.phrase, place: $0)) }
    }

    private static func index<Reader>(
        _ candidates: Candidates<Reader>, of kind: ActorKind
    ) -> PhraseIndex<Reader, Action> {
        PhraseIndex(candidates.map { ($1, isOwn: $0 == .connection ? kind.isConnection : $0 == kind) })
    }

    /// The words with which a verb can begin.
    static let firstWordsOfVerbs = connectionVerbs.firstWords.union(["expect"])

    // MARK: For messages, the editors and the reference

    /// The entry for `expect` itself; each expectation has a separate entry.
    static let expect = LanguageEntry(
        "expect", ["expect V"], "waits for the next input to match V, and consumes it", example: "expect \"text\"",
        timing: .both)

    /// Returns the verbs of a kind of actor.
    ///
    /// - Parameter inherited: whether to include the verbs of a connection for a server or a client.
    package static func verbEntries(of kind: ActorKind, inherited: Bool = true) -> [LanguageEntry] {
        let connection = ConnectionAction.phrases.map(\.entry)
        let inheritance = inherited ? connection : []
        return switch kind {
        case .server: ServerAction.phrases.map(\.entry) + inheritance
        case .client: ClientAction.phrases.map(\.entry) + inheritance
        case .connection: connection
        case .subject: SubjectAction.phrases.map(\.entry)
        case .process: ProcessAction.phrases.map(\.entry)
        case .proxy: ProxyAction.phrases.map(\.entry)
        case .crowd: CrowdAction.phrases.map(\.entry)
        case .link: []
        }
    }

    package static func expectationEntries(of kind: ActorKind, inherited: Bool = true) -> [LanguageEntry] {
        let connection = ConnectionExpectationPhrases.values + ConnectionExpectationPhrases.all.map(\.entry)
        let inheritance = inherited ? connection : []
        return switch kind {
        case .server: ServerExpectation.phrases.map(\.entry) + inheritance
        case .client: inheritance
        case .connection: connection
        case .subject: SubjectExpectation.phrases.map(\.entry) + SubjectExpectation.valueEntries
        case .process: ProcessExpectation.phrases.map(\.entry)
        case .proxy: [ProxyAction.watching] + inheritance
        case .crowd: CrowdExpectation.phrases.map(\.entry)
        case .link: []
        }
    }

    /// Returns the verbs as lists of choices show them, with `expect` after the verbs that send.
    static func verbChoices(of kind: ActorKind) -> [String] {
        var choices = verbEntries(of: kind).compactMap(\.choice)
        let before: String =
            switch kind {
            case .server, .client, .connection: "start sending"
            case .subject: "send"
            case .proxy: "accept"
            case .process, .crowd, .link: "start"
            }
        if let place = choices.firstIndex(of: before) { choices.insert("expect", at: place + 1) }
        return choices
    }

    static func expectationChoices(of kind: ActorKind) -> [String] {
        expectationEntries(of: kind).compactMap(\.choice)
    }
}

/// The kinds of actors that have different verbs.
package enum ActorKind: String, Sendable, CaseIterable {
    case server, client, subject, process, proxy, crowd, link
    /// The connection that `accept as` binds.
    case connection

    /// Whether an actor of this kind has the verbs of a connection.
    package var isConnection: Bool { [.server, .client, .connection].contains(self) }

    /// The name of an actor of this kind in examples.
    package var sample: String {
        switch self {
        case .server: "S"
        case .client, .connection: "C"
        case .subject: "T"
        case .process: "P"
        case .proxy: "X"
        case .crowd: "W"
        case .link: "L"
        }
    }
}

/// The fixed list of words that can't name an actor or a variable, because each word begins a statement.
package enum ReservedNames {
    /// Words that are not reserved, because they begin a statement only in a specific form: `proxy` and `link` if a
    /// name and an arrow follow, `crowd` if a name and `=` follow, and `name` if a string follows.
    private static let open = ["proxy", "link", "crowd", "name"]
    /// Words that begin a statement of the header.
    private static let header = HeaderStatement.phrases.map(\.entry.spelling).filter { !open.contains($0) }
    /// Words that begin a step.
    private static let steps = StepStatement.phrases.map(\.entry.spelling).filter { !open.contains($0) }
    /// `${dir}` in a `process` line is the script's folder.
    private static let variables = ["dir"]

    package static let all: [String] = Set(header + steps + variables).sorted()
    private static let set = Set(all)
    private static let headerOnly = Set(header).subtracting(steps)

    package static func contains(_ name: String) -> Bool { set.contains(name) }

    /// Returns whether the word begins a statement of the header but no step.
    static func isHeaderOnly(_ word: String) -> Bool { headerOnly.contains(word) }
}

/// An entry, its category, and the kind of actor that the entry applies to.
package struct ListedEntry: Sendable {
    package enum Category: String, Sendable, CaseIterable {
        case header, step, verb, expectation, wire, link, member, function
    }

    package var category: Category
    /// The kind of actor that has the verb or the expectation; `nil` for the other categories.
    package var kind: ActorKind?
    package var entry: LanguageEntry
    /// Whether the statement begins with `S -> T`.
    package var isDirected = false

    /// The name by which a user asks for the entry: `stop reading`, `expect line`, `wire gap`.
    package var name: String {
        switch category {
        case .header, .step, .verb, .function: entry.spelling
        case .expectation: "expect \(entry.spelling)"
        case .wire: "wire \(entry.spelling)"
        case .link: "link \(entry.spelling)"
        case .member: "member \(entry.spelling)"
        }
    }

    /// The words of the entry that an editor highlights.
    var words: [String] { entry.spelling.split(separator: " ").map(String.init).filter { $0 != "…" } }

    /// Returns a line of a script that uses the construct in the form `text`.
    package func line(_ text: String) -> String {
        switch category {
        case .header, .step, .function: text
        case .verb, .expectation:
            text.hasPrefix("…") ? text : "\(entry.isServerOnly ? "S" : kind?.sample ?? "S") \(text)"
        case .wire: isDirected ? "wire S -> C \(text)" : text
        case .link: "link S -> C \(text)"
        case .member: entry.spelling == "connect" ? "W start { \(text) }" : "W start { connect; \(text) }"
        }
    }

    /// Returns the text as it appears in the reference, in which statements about the wire name the subject `T` as the
    /// receiver.
    package func form(_ text: String) -> String {
        switch category {
        case .link: ["down", "up", "heal"].contains(text) ? "link S <-> T \(text)" : "link S -> T \(text)"
        case .member: text
        default: isDirected ? "wire S -> T \(text)" : line(text)
        }
    }

    package var example: String { line(entry.example) }
}

extension LanguageTable {
    /// Every entry of the language. The entries that servers and clients share with all connections are listed once,
    /// as entries of connections.
    package static let all: [ListedEntry] =
        HeaderStatement.phrases.map { ListedEntry(category: .header, entry: $0.entry) }
        + StepStatement.phrases.map { ListedEntry(category: .step, entry: $0.entry) }
        + ActorKind.allCases.flatMap { kind in
            verbEntries(of: kind, inherited: false).map { ListedEntry(category: .verb, kind: kind, entry: $0) }
        }
        + [ListedEntry(category: .verb, kind: .connection, entry: expect)]
        + ActorKind.allCases.flatMap { kind in
            expectationEntries(of: kind, inherited: false).map {
                ListedEntry(category: .expectation, kind: kind, entry: $0)
            }
        }
        + WirePhrases.halfConnectionPhrases.map { ListedEntry(category: .wire, entry: $0.entry, isDirected: true) }
        + WirePhrases.all.filter(\.isListed).map { ListedEntry(category: .wire, entry: $0.entry) }
        + LinkPhrases.all.map { ListedEntry(category: .link, entry: $0.entry) }
        + CrowdStatement.phrases.map { ListedEntry(category: .member, entry: $0.entry) }
        + Function.allCases.map { ListedEntry(category: .function, entry: $0.entry) }
        + [ListedEntry(category: .function, entry: hexEntry)]
        + [ListedEntry(category: .function, entry: ProtobufExpression.entry)]
        + WebSocketExpression.Kind.allCases.map { ListedEntry(category: .function, entry: $0.entry) }

    /// The entry for `hex`, which is not a ``Function`` because the lexer reads it: hexadecimal digits are not always
    /// words.
    static let hexEntry = LanguageEntry(
        "hex", ["hex(de ad be ef)"], "the bytes in hexadecimal; spaces between whole bytes are optional",
        example: "hex(de ad be ef)", timing: nil
    )

    /// Returns the entries that `words` refer to, by name, by spelling, or by the first words of an entry. A leading
    /// `expect` or `wire` selects the category.
    package static func find(_ words: String) -> [ListedEntry] {
        let wanted = words.lowercased()
        let exact = all.filter { $0.name == wanted || $0.entry.spelling == wanted }
        if !exact.isEmpty { return exact }
        return all.filter {
            ($0.name + " ").hasPrefix(wanted + " ") || ($0.entry.spelling + " ").hasPrefix(wanted + " ")
        }
    }

    /// The names of all entries. A user asks for an entry by its name.
    package static let names: [String] = Set(all.map(\.name)).sorted()
}
