import ProbeBase

/// What one kind of actor does, what can be expected of it, or what can be said about the wire. The table holds all that the language
/// says of it; the properties say which entry a value stands for and what is to be checked. Each is a `switch` without a `default`.
protocol LanguageElement: Sendable {
    /// What reads it.
    associatedtype Reader: GrammarPart

    /// What the parser looks for, in the order of messages and of the reference.
    static var phrases: [Phrase<Reader, Self>] { get }
    /// Those that begin with no word of their own.
    static var valueEntries: [LanguageEntry] { get }
    /// By their spelling.
    static var entries: [String: LanguageEntry] { get }

    /// Of its entry.
    var spelling: String { get }
    var values: [ValueCheck] { get }
    /// The variables that it binds.
    var bindings: Bindings { get }
}

extension LanguageElement {
    static var valueEntries: [LanguageEntry] { [] }
    /// For messages.
    static var choices: [String] { phrases.filter(\.isListed).compactMap(\.entry.choice) }

    var bindings: Bindings { Bindings() }

    static func index(_ phrases: [Phrase<Reader, Self>], _ others: [LanguageEntry] = []) -> [String: LanguageEntry] {
        Dictionary((phrases.map(\.entry) + others).map { ($0.spelling, $0) }) { first, _ in first }
    }
}

/// What the checker looks at in a value.
enum ValueCheck {
    case integer(Expression, String, ClosedRange<Int>)
    case bytes(Expression)
    case nonEmptyBytes(Expression)
    /// A name of so many bytes; the text says what it is a name of.
    case name(Expression, String, ClosedRange<Int>)
    /// Never empty, and no number.
    case expectedBytes(Expression)
    /// Legal with `framing none` only.
    case unframedBytes(Expression)
    case delimiter(Expression)
    case pattern(Pattern, allowsEmpty: Bool)
    case regex(RegexLiteral)
    case reason(String, [String], String)
    case address(AddressExpression)
    case option(SocketOption)
    case send(SendStatement, ActorKind)
    /// Places of cuts in a stream: in rising order, from 1 up.
    case offsets([Expression])
}

/// What a step does to its actor, as far as the checker follows it.
enum ActionEffect {
    case nothing

    // servers and clients
    case accepts(as: Name?, ServerAction.AcceptMode)
    case listens
    case stopsListening
    /// Its connections end, and it listens again.
    case reboots
    case connects(to: AddressExpression?, ClientAction.ConnectOutcome)

    // connections
    case usesConnection
    case sends
    case endsSending
    case ends(verb: String)
    case peerEnds
    case startsTLS
    /// As `sends`, of a connection with TLS.
    case usesTLS
    case sendsNotify
    /// A record that OpenSSL refuses to write.
    case forges
    /// An end or a message of TLS is expected.
    case observesTLS(ends: Bool)
    /// Also of a connection to come.
    case changesOption
    case changesBuffer
    /// As `changesOption`.
    case changesReading

    // subjects
    case startsSubject
    /// An operation: legal in any state, as what it answers is the point.
    case operatesSubject
    case observesSubject
    case startsSubjectTLS
    case observesSubjectTLS
    case subjectAccepts(as: Name)

    // proxies
    case acceptsProxied(as: Name?)
    /// Of the connections to come, too.
    case changesProxied
    case watchesProxied

    // crowds
    case startsCrowd
    case stopsCrowd
    case observesCrowd

    // processes
    case startsProcess
    case usesProcess
    /// Also of one that has ended.
    case readsOutput
    case endsProcess
}

/// What an expectation binds once it is met.
struct Bindings {
    /// Their named groups; those of an optional pattern may stay unbound.
    var patterns: [(isOptional: Bool, pattern: Pattern)] = []
    /// The name behind `as`.
    var name: Name?
    var type = ValueType.bytes

    init(patterns: [(isOptional: Bool, pattern: Pattern)] = [], name: Name? = nil, type: ValueType = .bytes) {
        self.patterns = patterns
        self.name = name
        self.type = type
    }

    init(groups pattern: Pattern, name: Name?) {
        self.init(patterns: pattern.mayBind ? [(false, pattern)] : [], name: name)
    }

    /// The names, without those of a table's cells.
    var names: [String] {
        if patterns.isEmpty { return name.map { [$0.value] } ?? [] }
        return patterns.flatMap { entry in
            if case .regex(let literal) = entry.pattern { literal.groupNames } else { [String]() }
        } + [name?.value].compactMap(\.self)
    }
}

extension Pattern {
    /// Whether it may have groups: a variable can be the cell of a table.
    fileprivate var mayBind: Bool {
        switch self {
        case .regex: return true
        case .value(let expression):
            if case .variable = expression.kind { return true }
            return false
        case .any: return false
        }
    }
}
