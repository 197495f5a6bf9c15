/// What can be wrong with a name.
package enum NameDiagnosticKind: Sendable {
    case reserved(String)
    case duplicate(String, what: String)
    /// With the names that there are.
    case unknownActor(String, [String])
    case unknownVariable(String, [String])
    /// In a string.
    case unknownInterpolation(String, [String])
    /// A name such as `n-1` of which both sides mean something.
    case hyphenated(String, left: String, right: String)
    case mayBeUnbound(String)
    case unboundInFinally(String)
    case wordAlone(String)
    case boundByOtherLine(String)
    case unknownDefinition(String, [String])
    case unknownTable(String, [String])
    case tableColumns(names: Int, columns: Int)
    case unknownProperty(actor: String, property: String, [String])
    case actorAsValue(String)
    case variableAsActor(String)
    case wrongKindOfActor(String, is: String, wanted: String)
    /// A name that two `accept as` give to actors of two kinds.
    case twoKinds(String, String)
    case unusedActor(String, kind: String)
    case recursiveDefinition(String)
    case directoryOutsideProcess

    private static func example(of word: String) -> String? {
        switch word {
        case "line", "message", "leftover", "data": "expect \(word) \"text\", or expect \(word) as x"
        case "lines": "expect lines in any order \"a\", /b/"
        case "until": "expect until \"\\0\" as x"
        case "any": "expect any bytes as x"
        case "urgent": "expect urgent \"!\""
        case "accept": "expect accept as A"
        case "output": "expect output /ready/"
        case "no": "expect no output /error/"
        case "error": "expect error already-started"
        case "send": "expect send failed reset"
        case "memory", "descriptors", "threads": "expect \(word) <= 100, or expect \(word) as x"
        case "cpu": "expect cpu <= 100ms, or expect cpu as x"
        default: nil
        }
    }

    var message: Diagnostic.Message {
        switch self {
        case .reserved(let name):
            .init(
                .reservedName, "nothing can be named `\(name)`: it starts a statement",
                hint: "take another name, such as `my-\(name)`")
        case .duplicate(let name, _):
            .init(.duplicateName, "the name `\(name)` is taken", hint: "take another name")
        case .unknownActor("localhost", _):
            .init(.unknownActor, "there is no actor `localhost`", hint: "an address has a port: localhost:8080")
        case .unknownActor(let name, let actors):
            .init(
                .unknownActor, "there is no actor `\(name)`",
                hint: Suggestion.nearest(to: name, among: actors).map { "did you mean `\($0)`?" }
                    ?? (actors.isEmpty
                        ? "declare it before the first step: server \(name), client \(name) -> …, or bind it with "
                            + "accept as \(name)"
                        : "the actors are \(actors.joined(separator: ", ")); others are declared before the first step")
            )
        case .unknownVariable(let name, let names):
            .init(
                .unknownVariable, "`\(name)` is not bound anywhere",
                hint: Suggestion.nearest(to: name, among: names).map { "did you mean `\($0)`?" }
                    ?? "text stands in quotes: \"\(name)\"; a variable is bound by let, each, for, `as` or a "
                    + "regex group"
            )
        case .unknownInterpolation(let name, let names):
            .init(
                .unknownVariable, "`\(name)` is not bound anywhere",
                hint: Suggestion.nearest(to: name, among: names).map { "did you mean `${\($0)}`?" }
                    ?? "bind it before: let \(name) = …, for \(name) in 1..3 { … }, expect line as \(name); a ${ "
                    + "for the wire is written \\${"
            )
        case .hyphenated(let name, let left, let right):
            .init(
                .unknownVariable, "`\(name)` is one word, and no variable",
                hint: "to subtract, put spaces around the -: \(left) - \(right)")
        case .mayBeUnbound(let name):
            .init(
                .unboundVariable, "`\(name)` may not be bound on the way to this step",
                hint: "bind it in every branch, or before")
        case .unboundInFinally(let name):
            .init(
                .unboundVariable, "`\(name)` may not be bound here: finally runs even when its step was never reached",
                hint: "in finally take only what the header binds, or what finally itself does")
        case .wordAlone(let word):
            .init(
                .unknownVariable, "`\(word)` alone is a variable here, and none has that name",
                hint: Self.example(of: word).map { "say what is expected behind it: \($0)" })
        case .boundByOtherLine(let name):
            .init(
                .unboundVariable, "`\(name)` is bound by another line of this together, which runs at the same time",
                hint: "put both lines into one do { … }")
        case .unknownDefinition(let name, let names):
            .init(
                .unknownDefinition, "there is no define `\(name)`",
                hint: names.isEmpty
                    ? "write define \(name) { … } before the first step" : didYouMean(name, names, "there are"))
        case .unknownTable(let name, let names):
            .init(
                .unknownTable, "there is no table `\(name)`",
                hint: names.isEmpty
                    ? "write table \(name) = … before the first step" : didYouMean(name, names, "there are"))
        case .tableColumns(let names, let columns):
            .init(
                .unevenTable, "\(names) names for the \(columns) cells of a row", hint: "give each cell of a row a name"
            )
        case .unknownProperty(let actor, let property, let properties):
            .init(
                .unknownProperty, "`\(actor)` has no `\(property)`",
                hint: "it has " + properties.joined(separator: ", "))
        case .actorAsValue(let name):
            .init(.notAVariable, "`\(name)` is an actor, not a value", hint: "its port is \"${\(name).port}\"")
        case .variableAsActor(let name):
            .init(.notAnActor, "`\(name)` is a variable, not an actor", hint: "a step starts with an actor")
        case .wrongKindOfActor(let name, let kind, let wanted):
            .init(.notAnActor, "`\(name)` is a \(kind), and \(wanted) is meant")
        case .twoKinds(let name, let kind):
            .init(
                .notAnActor, "`\(name)` is a \(kind) here, and another kind of actor where this step was read",
                hint: "give the two actors two names")
        case .unusedActor(let name, let kind):
            .init(
                .unusedActor, "the \(kind) `\(name)` does nothing in this scenario",
                hint: "remove it, or write what it does")
        case .recursiveDefinition(let name):
            .init(
                .recursiveDefinition, "`\(name)` does itself: it would never end",
                hint: "repeat with for i in 1..100 { … } or retry")
        case .directoryOutsideProcess:
            .init(
                .unknownVariable, "${dir} stands in process lines only",
                hint: "file(\"name\") reads a file of the script's folder")
        }
    }
}
