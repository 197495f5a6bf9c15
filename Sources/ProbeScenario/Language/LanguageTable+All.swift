/// An entry with its place in the language.
package struct ListedEntry: Sendable {
    package enum Category: String, Sendable, CaseIterable {
        case header, step, verb, expectation, wire, link, member, function
    }

    package var category: Category
    /// Of a verb and of an expectation.
    package var kind: ActorKind?
    package var entry: LanguageEntry
    /// It begins with `S -> T`.
    package var isDirected = false

    /// As one asks for it: `stop reading`, `expect line`, `wire gap`.
    package var name: String {
        switch category {
        case .header, .step, .verb, .function: entry.spelling
        case .expectation: "expect \(entry.spelling)"
        case .wire: "wire \(entry.spelling)"
        case .link: "link \(entry.spelling)"
        case .member: "member \(entry.spelling)"
        }
    }

    /// The words of it that an editor marks.
    var words: [String] { entry.spelling.split(separator: " ").map(String.init).filter { $0 != "…" } }

    /// A line of a script.
    package func line(_ text: String) -> String {
        switch category {
        case .header, .step, .function: text
        case .verb, .expectation: text.hasPrefix("…") ? text : "\(entry.isOfServer ? "S" : kind?.sample ?? "S") \(text)"
        case .wire: isDirected ? "wire S -> C \(text)" : text
        case .link: "link S -> C \(text)"
        case .member: entry.spelling == "connect" ? "W start { \(text) }" : "W start { connect; \(text) }"
        }
    }

    /// As the reference shows it, where the wire's statements are about a subject.
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
    /// All that there is to say: what a server and a client share with every connection stands once, as the connection's.
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
        + HalfConnectionStatement.phrases.map { ListedEntry(category: .wire, entry: $0.entry, isDirected: true) }
        + WireStatement.phrases.filter(\.isListed).map { ListedEntry(category: .wire, entry: $0.entry) }
        + LinkPhrases.all.map { ListedEntry(category: .link, entry: $0.entry) }
        + CrowdStatement.phrases.map { ListedEntry(category: .member, entry: $0.entry) }
        + Function.allCases.map { ListedEntry(category: .function, entry: $0.entry) }
        + [ListedEntry(category: .function, entry: hexEntry)]
        + [ListedEntry(category: .function, entry: ProtobufExpression.entry)]
        + WebSocketExpression.Kind.allCases.map { ListedEntry(category: .function, entry: $0.entry) }

    /// `hex` is read by the lexer, as its digits are no words.
    static let hexEntry = LanguageEntry(
        "hex", ["hex(de ad be ef)"], "spaces are optional between whole bytes", example: "hex(de ad be ef)", timing: nil
    )

    /// What `words` name: a spelling, or the first words of one. `expect` and `wire` in front say which is meant.
    package static func find(_ words: String) -> [ListedEntry] {
        let wanted = words.lowercased()
        let exact = all.filter { $0.name == wanted || $0.entry.spelling == wanted }
        if !exact.isEmpty { return exact }
        return all.filter {
            ($0.name + " ").hasPrefix(wanted + " ") || ($0.entry.spelling + " ").hasPrefix(wanted + " ")
        }
    }

    /// All that can be asked for.
    package static let names: [String] = Set(all.map(\.name)).sorted()
}
