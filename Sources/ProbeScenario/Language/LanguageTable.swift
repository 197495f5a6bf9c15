/// The verbs and the expectations of all kinds of actors, by kind.
package enum LanguageTable {
    // MARK: For the parser

    /// What follows the name of such an actor: its own verbs, and those of others, which the checker refuses by their names.
    static func verbs(of kind: ActorKind?) -> PhraseIndex<ActionParser, Action> {
        switch kind {
        case .server: serverVerbs
        case .client: clientVerbs
        case .subject: subjectVerbs
        case .process: processVerbs
        case .connection, .crowd, .link, nil: connectionVerbs
        }
    }

    /// What follows `expect`.
    static func expectations(of kind: ActorKind?) -> PhraseIndex<ExpectationParser, Action> {
        switch kind {
        case .server: serverExpectations
        case .subject: subjectExpectations
        case .process: processExpectations
        case .client, .connection, .crowd, .link, nil: connectionExpectations
        }
    }

    private static let serverVerbs = verbIndex(.server)
    private static let clientVerbs = verbIndex(.client)
    private static let connectionVerbs = verbIndex(.connection)
    private static let subjectVerbs = verbIndex(.subject)
    private static let processVerbs = verbIndex(.process)
    private static let serverExpectations = expectationIndex(.server)
    private static let connectionExpectations = expectationIndex(.connection)
    private static let subjectExpectations = expectationIndex(.subject)
    private static let processExpectations = expectationIndex(.process)

    private static func verbIndex(_ kind: ActorKind) -> PhraseIndex<ActionParser, Action> {
        PhraseIndex(
            ServerAction.phrases.map { ($0.map(Action.server), kind == .server) }
                + ClientAction.phrases.map { ($0.map(Action.client), kind == .client) }
                + ConnectionAction.phrases.map { ($0.map(Action.connection), kind.isConnection) }
                + SubjectAction.phrases.map { ($0.map(Action.subject), kind == .subject) }
                + ProcessAction.phrases.map { ($0.map(Action.process), kind == .process) })
    }

    private static func expectationIndex(_ kind: ActorKind) -> PhraseIndex<ExpectationParser, Action> {
        PhraseIndex(
            ServerExpectation.phrases.map { ($0.map { .server(.expect($0)) }, kind == .server) }
                + ConnectionExpectation.phrases.map { ($0.map { .connection(.expect($0)) }, kind.isConnection) }
                + SubjectExpectation.phrases.map { ($0.map { .subject(.expect($0)) }, kind == .subject) }
                + ProcessExpectation.phrases.map { ($0.map { .process(.expect($0)) }, kind == .process) })
    }

    /// The words that a verb can begin with.
    static let firstWordsOfVerbs = Set(verbs(of: .connection).firstWords + ["expect"])

    // MARK: For messages, the editors and the reference

    /// `expect` itself: what can be expected has entries of its own.
    static let expect = LanguageEntry(
        "expect", ["expect V"], "waits for what is to come, and takes it", example: "expect \"text\"", timing: .both)

    /// The verbs of a kind of actor; a server and a client have those of a connection too, as `inherited` says.
    package static func verbEntries(of kind: ActorKind, inherited: Bool = true) -> [LanguageEntry] {
        let connection = ConnectionAction.phrases.map(\.entry)
        let inheritance = inherited ? connection : []
        return switch kind {
        case .server: ServerAction.phrases.map(\.entry) + inheritance
        case .client: ClientAction.phrases.map(\.entry) + inheritance
        case .connection: connection
        case .subject: SubjectAction.phrases.map(\.entry)
        case .process: ProcessAction.phrases.map(\.entry)
        case .crowd, .link: []
        }
    }

    package static func expectationEntries(of kind: ActorKind, inherited: Bool = true) -> [LanguageEntry] {
        let connection = ConnectionExpectation.valueEntries + ConnectionExpectation.phrases.map(\.entry)
        let inheritance = inherited ? connection : []
        return switch kind {
        case .server: ServerExpectation.phrases.map(\.entry) + inheritance
        case .client: inheritance
        case .connection: connection
        case .subject: SubjectExpectation.phrases.map(\.entry) + SubjectExpectation.valueEntries
        case .process: ProcessExpectation.phrases.map(\.entry)
        case .crowd, .link: []
        }
    }

    /// The verbs, as lists of choices show them; `expect` behind those that send.
    static func verbChoices(of kind: ActorKind) -> [String] {
        var choices = verbEntries(of: kind).compactMap(\.choice)
        let before: String =
            switch kind {
            case .server, .client, .connection: "start sending"
            case .subject: "send"
            case .process, .crowd, .link: "start"
            }
        if let place = choices.firstIndex(of: before) { choices.insert("expect", at: place + 1) }
        return choices
    }

    static func expectationChoices(of kind: ActorKind) -> [String] {
        expectationEntries(of: kind).compactMap(\.choice)
    }
}

/// What can act, as far as the verbs are concerned.
package enum ActorKind: String, Sendable, CaseIterable {
    case server, client, subject, process, crowd, link
    /// What `accept as` binds.
    case connection

    /// Whether it has the verbs of a connection.
    package var isConnection: Bool { [.server, .client, .connection].contains(self) }

    /// The name that such an actor has in examples.
    package var sample: String {
        switch self {
        case .server: "S"
        case .client, .connection: "C"
        case .subject: "T"
        case .process: "P"
        case .crowd: "W"
        case .link: "L"
        }
    }
}

/// The closed list of words that no actor and no variable may be named like: each starts a statement.
package enum ReservedNames {
    /// Of the header, with those that are not built.
    private static let header = HeaderStatement.phrases.map(\.entry.spelling) + ["crowd", "link", "name"]
    /// Of the timeline.
    private static let steps = StepStatement.phrases.map(\.entry.spelling) + ["link"]
    /// `${dir}` of a process line is the script's folder.
    private static let variables = ["dir"]

    package static let all: [String] = Set(header + steps + variables).sorted()
    private static let set = Set(all)
    private static let headerOnly = Set(header).subtracting(steps)

    package static func contains(_ name: String) -> Bool { set.contains(name) }

    /// Whether the word starts a statement of the header that is no step.
    static func isHeaderOnly(_ word: String) -> Bool { headerOnly.contains(word) }
}
