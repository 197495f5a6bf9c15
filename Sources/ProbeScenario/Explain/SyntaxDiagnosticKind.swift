import ProbeBase

/// What can be wrong with the words of a statement.
package enum SyntaxDiagnosticKind: Sendable {
    /// What a number says.
    package enum Quantity: String, Sendable {
        case duration, rate, size, integer
    }

    case expected(String, found: String, example: String?)
    case semicolonOutsideBlock
    case unmatchedBrace
    case unclosedBrace
    case unexpectedSlash
    case zeroDuration
    case zeroRate
    case missingUnit(String, Quantity)
    case unknownUnit(digits: String, unit: String, Quantity)
    case numberTooLarge(String)
    case malformedNumber(String)
    case wrongQuantity(String, is: Quantity, wanted: Quantity)
    case expressionTooDeep
    case nestingTooDeep(Int)
    case regexAsValue
    case regexNeedsLine
    case regexAfterComparison
    case negativeNumber
    case unknownFunction(String)
    /// Too few or too many.
    case webSocketArguments(String, example: String)
    /// Of protobuf.
    case fieldNumber(Int)
    case propertyOutsideString(owner: String, property: String)
    case interpolationNotHere
    case unknownWord(String, what: String, choices: [String])
    case unknownStatement(String, next: String, actors: [String])
    /// `//` or `/*`.
    case foreignComment(String)
    /// `&&`, `||`, `!`
    case foreignOperator(String)
    case unknownVerb(String, actor: String, kind: ActorWord?)
    case unknownExpectation(String, kind: ActorWord?)
    case unknownWire(String, choices: [String])
    /// A declaration says where it listens or connects to in other words.
    case foreignClause(String, hint: String)
    case eachNeedsTable
    case cutsNotAlone
    case cutsCount
    case argumentCount(String, String, example: String)
    case badHost(String)
    /// A name where a numeric address has to stand.
    case localName(String, isListening: Bool)
    /// `local` of a subject that listens.
    case localOfListener
    /// `path` of a subject that listens.
    case pathOfListener
    /// `reconnect` of a subject that listens.
    case reconnectOfListener
    /// `reconnect 1s..100ms`.
    case reconnectRange
    case badPort(Int)
    case eitherNeedsOr
    case orOnItsOwnLine
    case clauseTwice(String), ifNeededNotHere
    /// `key` of `tls`.
    case keyWithoutCertificate
    /// `expect alert close-notify`.
    case notifyIsNoAlert
    case pipeAndCut
    /// `with fin` of a send that can't carry one.
    case carriesNoFIN(String)
    case timingNeverHolds
    case linesFraming
    case emptyDelimiter
    case gapNumber
    case asNotHere

    var message: Diagnostic.Message {
        switch self {
        case .expected(let what, let found, let example):
            .init(
                .expected, "\(what) is expected here, not \(found)",
                hint: ForeignWords.instead(of: found, expected: what) ?? example.map { "for example: \($0)" })
        case .semicolonOutsideBlock:
            .init(
                .expected, "`;` ends a statement inside braces only", hint: "write one statement a line")
        case .unmatchedBrace:
            .init(.unmatchedBrace, "this `}` closes nothing", hint: "remove it, or open the block that it is to close")
        case .unclosedBrace: .init(.unmatchedBrace, "this `{` is never closed", hint: "close the block with `}`")
        case .unexpectedSlash:
            .init(
                .unexpectedSlash, "a `/` opens a regex here, and none belongs here",
                hint: "`/` divides only inside parentheses: (a / b)")
        default: otherMessage
        }
    }

    private var otherMessage: Diagnostic.Message {
        switch self {
        case .zeroDuration: .init(.badNumber, "a duration of zero makes no sense here", hint: "for example 20ms")
        case .zeroRate: .init(.badNumber, "at a rate of zero nothing is ever sent", hint: "for example 10B/s")
        case .missingUnit(let number, let quantity):
            .init(
                .missingUnit, "\(number) has no unit, and \(quantity.article) is meant",
                hint: quantity.units(for: number.allSatisfy(\.isNumber) ? number : "10"))
        case .unknownUnit(let digits, let unit, let quantity):
            .init(.unknownUnit, "\(Escaped.quoted(unit)) is no unit", hint: unitHint(digits, unit, quantity))
        case .numberTooLarge(let text):
            .init(.badNumber, "\(text) is too large", hint: "numbers go up to 9223372036854775807")
        case .malformedNumber(let text):
            .init(
                .badNumber, "\(Escaped.quoted(text)) is no number",
                hint: "numbers are 12, 1_000, 0x1f, sizes 4KiB, durations 1.5s")
        case .wrongQuantity(let text, let actual, let wanted):
            .init(
                .wrongQuantity, "\(text) is \(actual.article), and \(wanted.article) is meant",
                hint: wanted.units(for: "10"))
        case .expressionTooDeep:
            .init(.tooDeep, "this expression is too deep", hint: "compute a part of it first: let part = …")
        case .nestingTooDeep(let limit):
            .init(.tooDeep, "blocks and parentheses go at most \(limit) deep", hint: "move the inner part to a define")
        case .regexAsValue:
            .init(
                .regexMisplaced, "a regex is no value",
                hint:
                    "a regex stands behind line, message, output, matches and in a table; `/` divides only in "
                    + "parentheses"
            )
        case .regexNeedsLine:
            .init(.regexMisplaced, "a regex is matched with a line, not with bytes", hint: "write expect line /…/")
        case .regexAfterComparison:
            .init(.regexMisplaced, "a regex is not compared", hint: "write check x matches /…/")
        case .negativeNumber:
            .init(
                .badNumber, "there are no negative numbers",
                hint: "subtract: (0 - 1); a number of protobuf may be `int -1` or `sint -1`")
        case .webSocketArguments(let name, let example):
            .init(.argumentCount, "\(name)(…) has other arguments", hint: "for example \(example)")
        case .fieldNumber(let number):
            .init(.outOfRange, "\(number) is no number of a field", hint: "they are 1 to 536870911")
        case .unknownFunction(let name):
            .init(
                .unknownFunction, "there is no function \(Escaped.quoted(name))",
                hint: ForeignWords.function(name)
                    ?? didYouMean(name, Function.allCases.map(\.rawValue) + ["hex", "pb"], "the functions are"))
        case .propertyOutsideString(let owner, let property):
            .init(
                .propertyOutsideString, "`\(owner).\(property)` stands in strings only",
                hint: "write \"${\(owner).\(property)}\", or int(\"${\(owner).\(property)}\") for a number")
        case .interpolationNotHere:
            .init(
                .badInterpolation, "nothing can be interpolated here: this text is needed before any case runs",
                hint: "write the text out; a ${ that means itself is \\${")
        case .unknownWord(let word, let what, let choices):
            .init(.unknownWord, "\(Escaped.quoted(word)) is not \(what)", hint: didYouMean(word, choices, "there are"))
        case .foreignComment(let sign):
            .init(.unexpectedSlash, "`\(sign)` starts no comment", hint: "a comment goes from # to the end of its line")
        case .foreignOperator(let sign):
            .init(
                .unexpectedCharacter, "there is no operator `\(sign)`",
                hint: sign == "!"
                    ? "`!=` compares, check x lacks \"text\" looks for what is missing, expect nothing for 200ms "
                        + "waits for silence"
                    : sign.hasPrefix("|")
                        ? "one of several is written either { C expect \"a\" } or { C expect \"b\" }"
                        : "what must hold together is written as several steps, one a line")
        case .unknownStatement(let word, let next, let actors):
            .init(
                .unknownStatement, "nothing starts with \(Escaped.quoted(word)): it is no statement and no actor",
                hint: ForeignWords.statement(word, next: next, actors: actors)
                    ?? Suggestion.nearest(to: word, among: ReservedNames.all + actors).map { "did you mean `\($0)`?" }
                    ?? "a line starts with a statement, or with an actor and what it does: S send \"text\"")
        default: actionMessage
        }
    }

    private var actionMessage: Diagnostic.Message {
        switch self {
        case .unknownVerb(let verb, let actor, let kind): unknownVerb(verb, actor, kind)
        case .unknownExpectation(let word, let kind):
            .init(
                .unknownExpectation, "nothing is expected as \(Escaped.quoted(word))",
                hint: ForeignWords.expectation(word, kind.kind ?? .connection)
                    ?? didYouMean(
                        word, LanguageTable.expectationChoices(of: kind.kind ?? .connection),
                        "after expect comes a value, or"))
        case .unknownWire(let word, let choices):
            .init(
                .unknownWire, "\(Escaped.quoted(word)) says nothing about the wire",
                hint: didYouMean(word, choices, "there are"))
        case .foreignClause(let word, let hint):
            .init(.unknownWord, "\(Escaped.quoted(word)) is not a clause here", hint: hint)
        case .eachNeedsTable:
            .init(
                .eachNeedsTable, "several names take the rows of a table",
                hint: "write: cmd, reply in replies, with a table replies = …")
        case .cutsNotAlone: .init(.cutsMisplaced, "cuts(…) stands alone", hint: "write each piece = cuts(V)")
        case .cutsCount: .init(.cutsMisplaced, "a value is cut 1 to 4 times", hint: "write cuts(V, 2)")
        case .argumentCount(let name, let takes, let example):
            .init(.argumentCount, "\(name)(…) takes \(takes)", hint: "for example \(example)")
        case .badHost(let host):
            .init(
                .badAddress, "\(Escaped.quoted(host)) is no address",
                hint: host.utf8.allSatisfy(\.isDigit)
                    ? "an address has a host and a port: 127.0.0.1:\(host)"
                    : "an address is 127.0.0.1:6379, [::1]:8080 or localhost:80")
        case .localName(let host, let isListening):
            .init(
                .badAddress,
                host.isEmpty ? "a Unix socket has no local address" : "\(Escaped.quoted(host)) is no numeric address",
                hint: isListening
                    ? "write listens on 127.0.0.2, listens on [::1]:8080 or listens on unix"
                    : "write local 127.0.0.2, local [::1] or local 127.0.0.2:5000; interface lo names an interface")
        case .pathOfListener:
            .init(
                .unknownWord, "`path` is what a subject that connects asks for",
                hint: "one that listens answers any path: `connect websocket \"/chat\"` of its client says it")
        case .reconnectOfListener:
            .init(
                .unknownWord, "`reconnect` is for a subject that connects",
                hint: "one that listens accepts whoever connects again")
        case .reconnectRange:
            .init(
                .emptyRange, "the longest wait is shorter than the first one",
                hint: "write reconnect 100ms..1s: the first wait, `..` and the longest one")
        case .localOfListener:
            .init(
                .unknownWord, "`local` is the own end of a subject that connects",
                hint: "write listens on 127.0.0.2")
        case .badPort(let port):
            .init(
                .badAddress, "\(port) is no port",
                hint: "ports go from 1 to 65535; a server without one takes a free one")
        case .eitherNeedsOr:
            .init(
                .expected, "either needs a second branch",
                hint: "write either { … } or { … }, with `} or {` on one line")
        case .orOnItsOwnLine:
            .init(.expected, "`or` stands on the line of the brace before it", hint: "write `} or {` on one line")
        case .clauseTwice(let word): .init(.clauseTwice, "`\(word)` was said already", hint: "say it once")
        case .ifNeededNotHere: .init(.ifNeededNotHere, "this step is always needed", hint: "drop `if needed`")
        case .notifyIsNoAlert:
            .init(
                .expected, "close_notify is an end and not one of the alerts that are expected so",
                hint: "write expect notify; expect eof is close_notify and the FIN behind it")
        case .keyWithoutCertificate:
            .init(
                .expected, "a key belongs to the certificate of a file",
                hint: "write cert \"a.pem\" key \"a.key\"; a certificate that is made for the case has its own key")
        case .pipeAndCut:
            .init(
                .pipeAndCut, "a send is cut by `|` or by `cut at` and `in pieces of`, not by both",
                hint: "join the pieces with + and cut at offsets, or drop the clause")
        case .carriesNoFIN(let verb):
            .init(.expected, "`\(verb)` carries no FIN", hint: "write send V with fin, or half-close behind it")
        case .timingNeverHolds:
            .init(
                .timingNeverHolds, "no moment is after the one and within the other",
                hint: "`after` must be less than `within`; both count from the end of the step before")
        case .linesFraming:
            .init(
                .unknownWord, "lines are looked at for crlf, lf, cr, nul or a delimiter",
                hint: "write wire S -> T lines crlf")
        case .emptyDelimiter:
            .init(.expected, "a delimiter has at least one byte", hint: "write framing \"END\", or framing none")
        case .gapNumber:
            .init(.badNumber, "the first gap is gap 1", hint: "write gap 1 >= 25ms, or gap >= 25ms for each gap")
        case .asNotHere:
            .init(
                .asNotHere, "there is nothing to bind: these bytes are known",
                hint: "bind what is not known: expect line as x, expect 10 bytes as x, expect until \"\\0\" as x")
        default: .init(.expected, "this can't be read")
        }
    }

    private func unknownVerb(_ verb: String, _ actor: String, _ kind: ActorWord?) -> Diagnostic.Message {
        guard let kind = kind.kind else {
            return .init(
                .unknownVerb, "\(Escaped.quoted(verb)) is nothing that an actor does",
                hint: ForeignWords.verb(verb, of: actor, .connection)
                    ?? Suggestion.nearest(to: verb, among: LanguageTable.firstWordsOfVerbs.sorted()).map {
                        "did you mean `\($0)`?"
                    } ?? "a step is an actor and what it does: \(actor) send \"text\"")
        }
        if let hint = ForeignWords.verb(verb, of: actor, kind) {
            return .init(.unknownVerb, "a \(kind.rawValue) has no verb \(Escaped.quoted(verb))", hint: hint)
        }
        return .init(
            .unknownVerb, "a \(kind.rawValue) has no verb \(Escaped.quoted(verb))",
            hint: didYouMean(verb, LanguageTable.verbChoices(of: kind), "`\(actor)` can"))
    }

    private func unitHint(_ digits: String, _ unit: String, _ quantity: Quantity) -> String {
        let units = NumberLiteral.durationUnits.map(\.name) + NumberLiteral.sizeUnits.map(\.name)
        if let near = units.first(where: { $0.lowercased() == unit.lowercased() }) {
            return "did you mean \(digits)\(near)?"
        }
        if unit == "m" { return "did you mean \(digits)ms or \(digits)min?" }
        if unit == "K" || unit == "k" { return "did you mean \(digits)KiB or \(digits)kB?" }
        if unit == "sec" { return "did you mean \(digits)s?" }
        return quantity.units(for: digits)
    }
}

/// The kind of an actor in a diagnostic.
package struct ActorWord: Sendable {
    let kind: ActorKind
}

extension Optional where Wrapped == ActorWord {
    var kind: ActorKind? { map(\.kind) }
}

extension SyntaxDiagnosticKind.Quantity {
    var article: String {
        switch self {
        case .duration: "a duration"
        case .rate: "a rate"
        case .size: "a size"
        case .integer: "a number"
        }
    }

    func units(for number: String) -> String {
        switch self {
        case .duration: "say in what: \(number)ms, or us, s, min"
        case .rate: "say in what: \(number)B/s, or KiB/s, MiB/s, kB/s, MB/s"
        case .size: "sizes are 512B, 4KiB, 10MiB, 1kB, 1MB"
        case .integer: "numbers are 12, 1_000, 0x1f, and sizes 512B, 4KiB, 10MiB, 1kB, 1MB"
        }
    }
}

/// `1 byte`, `2 bytes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// `did you mean …?`, or the whole list behind `intro`.
func didYouMean(_ word: String, _ choices: [String], _ intro: String) -> String {
    if let longer = choices.first(where: {
        $0.utf8.starts(with: word.utf8) && $0.utf8.dropFirst(word.utf8.count).first == 0x20
    }) {
        return "did you mean `\(longer)`?"
    }
    if let near = Suggestion.nearest(to: word, among: choices) { return "did you mean `\(near)`?" }
    let firsts = choices.map { String($0.prefix(while: { $0 != " " })) }
    if let near = Suggestion.nearest(to: word, among: firsts), let index = firsts.firstIndex(of: near) {
        return "did you mean `\(choices[index])`?"
    }
    return "\(intro) " + choices.joined(separator: ", ")
}
