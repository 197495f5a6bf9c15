import ProbeBase

/// An action of one kind of actor, an expectation, or a statement about the wire. The language table describes each
/// construct; the properties of an element specify the table entry to which the element belongs, and what must be
/// checked. Each property is a `switch` without a `default`, so that no construct can be forgotten.
protocol LanguageElement: Sendable {
    /// The parser that reads the element.
    associatedtype Reader: GrammarPart

    /// The phrases that the parser recognizes, in the order in which messages and the reference list them.
    static var phrases: [Phrase<Reader, Self>] { get }
    /// The entries that do not begin with a keyword.
    static var valueEntries: [LanguageEntry] { get }
    /// The entries, keyed by their spelling.
    static var entries: [String: LanguageEntry] { get }

    /// The spelling of the entry to which the element belongs.
    var spelling: String { get }
    var values: [ValueCheck] { get }
    /// The variables that the element binds.
    var bindings: Bindings { get }
}

extension LanguageElement {
    static var valueEntries: [LanguageEntry] { [] }
    /// The forms that messages list as choices.
    static var choices: [String] { phrases.filter(\.isListed).compactMap(\.entry.choice) }

    var bindings: Bindings { Bindings() }

    static func index(_ phrases: [Phrase<Reader, Self>], _ others: [LanguageEntry] = []) -> [String: LanguageEntry] {
        Dictionary((phrases.map(\.entry) + others).map { ($0.spelling, $0) }) { first, _ in first }
    }
}

/// What the checker verifies about a value.
enum ValueCheck {
    case integer(Expression, String, ClosedRange<Int>)
    case bytes(Expression)
    case nonEmptyBytes(Expression)
    /// A name whose length in bytes must be in the given range; the text describes the name in messages.
    case name(Expression, String, ClosedRange<Int>)
    /// Bytes that must be neither empty nor given as a number.
    case expectedBytes(Expression)
    /// Bytes that are allowed only with `framing none`.
    case unframedBytes(Expression)
    case delimiter(Expression)
    case pattern(Pattern, allowsEmpty: Bool)
    case regex(RegexLiteral)
    case reason(String, [String], String)
    case address(AddressExpression)
    case option(SocketOption)
    case send(SendStatement, ActorKind)
    /// Offsets of cuts in a stream, in ascending order. Each offset is at least 1.
    case offsets([Expression])
}

/// The effect of a step on its actor, as far as the checker tracks it.
enum ActionEffect {
    case nothing

    // Effects on servers and clients
    case accepts(as: Name?, ServerAction.AcceptMode)
    case listens
    case stopsListening
    /// The server's connections end, and the server listens again.
    case reboots
    case connects(to: AddressExpression?, ClientAction.ConnectOutcome)

    // Effects on connections
    case usesConnection
    case sends
    case endsSending
    case ends(verb: String)
    case peerEnds
    case startsTLS
    /// Like `sends`, but only on a connection with TLS.
    case usesTLS
    case sendsNotify
    /// Sends a record that OpenSSL can't write.
    case forges
    /// Expects the end of the connection, or a TLS message.
    case observesTLS(ends: Bool)
    /// Sets an option. The step is also allowed before the connection exists.
    case changesOption
    case changesBuffer
    /// Changes how the connection is read. The step is also allowed before the connection exists.
    case changesReading

    // Effects on subjects
    case startsSubject
    /// An operation that is allowed in any state, because the script may test how the subject responds.
    case operatesSubject
    case observesSubject
    case startsSubjectTLS
    case observesSubjectTLS
    case subjectAccepts(as: Name)

    // Effects on proxies
    case acceptsProxied(as: Name?)
    /// Changes how bytes are forwarded, including on future connections.
    case changesProxied
    case watchesProxied

    // Effects on crowds
    case startsCrowd
    case stopsCrowd
    case observesCrowd

    // Effects on processes
    case startsProcess
    case usesProcess
    /// Reads the output of a process. The step is also allowed after the process has ended.
    case readsOutput
    case endsProcess
}

/// The variables that an expectation binds when it succeeds.
struct Bindings {
    /// The patterns whose named groups are bound. The groups of an optional pattern may remain unbound.
    var patterns: [(isOptional: Bool, pattern: Pattern)] = []
    /// The name after `as`.
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

    /// The names that are bound, except the names of the regex groups in the cells of a table.
    var names: [String] {
        if patterns.isEmpty { return name.map { [$0.value] } ?? [] }
        return patterns.flatMap { entry in
            if case .regex(let literal) = entry.pattern { literal.groupNames } else { [String]() }
        } + [name?.value].compactMap(\.self)
    }
}

extension Pattern {
    /// Whether the pattern may have groups: a variable can be a table cell that holds a regex.
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
