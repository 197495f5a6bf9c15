/// The tables on the pages of `docs/language/`, keyed by the name in their markers: `<!-- table: sending -->` …
/// `<!-- end of table -->`.
package enum LanguageReference {
    /// Returns the page with its tables generated; `nil` if a marker is not closed or names an unknown table.
    package static func filled(_ page: String) -> String? {
        var result: [Substring] = []
        var isInTable = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if isInTable {
                guard line == "<!-- end of table -->" else { continue }
                isInTable = false
                result.append(line)
                continue
            }
            result.append(line)
            guard let name = named(line) else { continue }
            guard let rows = table(name) else { return nil }
            isInTable = true
            result += rows.split(separator: "\n", omittingEmptySubsequences: false)
        }
        return isInTable ? nil : result.joined(separator: "\n")
    }

    private static func named(_ line: Substring) -> String? {
        let (start, end) = ("<!-- table: ", " -->")
        guard line.hasPrefix(start), line.hasSuffix(end) else { return nil }
        return String(line.dropFirst(start.count).dropLast(end.count))
    }

    /// The name of a reference page, without `.md`, and the tables on it.
    package typealias Page = (name: String, tables: [String])

    /// The pages with tables. The first page is the index.
    package static let pages: [Page] = [
        ("README", ["words"]),
        ("syntax", ["reserved names", "values", "properties"]),
        ("header", ["header"]),
        ("flow", ["timing", "steps", "blocks"]),
        ("endpoints", ["server", "servers", "client", "connecting"]),
        ("connections", ["sending", "receiving", "ending"]),
        ("tls", ["tls"]),
        ("subjects", ["subject", "operations", "reports"]),
        ("processes", ["process", "processes"]),
        ("proxies", ["proxy", "proxies"]),
        ("links", ["link", "links"]),
        ("host-names", ["names"]),
        ("crowds", ["crowd", "crowds", "members"]),
        ("wire", ["wire"]),
    ]

    private static func table(_ name: String) -> String? {
        switch name {
        case "words": return wordTable
        case "values": return valueTable
        case "properties": return propertyTable
        case "timing": return timingTable
        case "reserved names": return reservedNames
        default:
            let listed = entries(of: name)
            guard !listed.isEmpty else { return nil }
            return rows(heading(of: name), name == "wire" ? "holds when" : "meaning", listed)
        }
    }

    /// Returns the heading of a table's first column.
    private static func heading(of table: String) -> String {
        switch table {
        case "header", "names", "members", "wire": "statement"
        case "operations": "operation"
        case "reports": "expectation"
        default: declarations.contains(table) ? "declaration" : "step"
        }
    }

    /// Returns the entries that a table lists: none for an unknown table, or for a table with its own generator, such
    /// as the table of properties.
    private static func entries(of table: String) -> [ListedEntry] {
        switch table {
        case "values": entries(.function)
        case "header": entries(.header) { !(declarations + ["name"]).contains($0.spelling) }
        case "steps": entries(.step) { withoutActor.contains($0.spelling) }
        case "blocks":
            entries(.step) { !(withoutActor + ["wire", "link", "name"]).contains($0.spelling) }
        case "sending": entries(.verb, .connection, isSending) + entries(.expectation, .connection, isSending)
        case "receiving":
            entries(.expectation, .connection) { !isSending($0) && !requiresTLS($0) }
                + entries(.verb, .connection) { $0.spelling == "ignore rest" }
        case "ending":
            entries(.verb, .connection) {
                !isSending($0) && !requiresTLS($0) && !["ignore rest", "expect"].contains($0.spelling)
            }
        case "tls": entries(.verb, .connection, requiresTLS) + entries(.expectation, .connection, requiresTLS)
        case "connecting": entries(.verb, .client)
        case "servers": entries(.verb, .server) + entries(.expectation, .server)
        case "operations": entries(.verb, .subject)
        case "reports": entries(.expectation, .subject)
        case "processes": entries(.verb, .process) + entries(.expectation, .process)
        case "proxies": entries(.verb, .proxy) + entries(.expectation, .proxy)
        case "links": entries(.link)
        case "names": entries(.header) { $0.spelling == "name" } + entries(.step) { $0.spelling == "name" }
        case "crowds": entries(.verb, .crowd) + entries(.expectation, .crowd)
        case "members": entries(.member)
        case "wire": entries(.wire)
        case let kind: entries(.header) { declarations.contains(kind) && $0.spelling == kind }
        }
    }

    private static let declarations = ["server", "client", "subject", "process", "proxy", "crowd", "link"]
    private static let withoutActor = ["wait", "note", "let", "check"]

    private static func isSending(_ entry: LanguageEntry) -> Bool {
        ["send", "start sending", "sent", "stalled for", "send failed"].contains(entry.spelling)
    }

    private static func requiresTLS(_ entry: LanguageEntry) -> Bool { tlsSpellings.contains(entry.spelling) }

    private static let tlsSpellings = Set(
        TLSAction.phrases.map(\.entry.spelling) + ConnectionExpectation<Parsed>.tlsEntries.map(\.spelling))

    private static func entries(
        _ category: ListedEntry.Category, _ kind: ActorKind? = nil, _ isWanted: (LanguageEntry) -> Bool = { _ in true }
    ) -> [ListedEntry] {
        LanguageTable.all.filter { $0.category == category && $0.kind == kind && isWanted($0.entry) }
    }

    private static func rows(_ left: String, _ right: String, _ entries: [ListedEntry]) -> String {
        let lines = entries.flatMap { listed in
            listed.entry.rows.map { row in
                let first = "`\(listed.form(row.forms[0]))`"
                let others = row.forms.dropFirst().map { "`\($0)`" }
                return "| \(([first] + others).joined(separator: " · ")) | \(row.meaning) |"
            }
        }
        return (["| \(left) | \(right) |", "| --- | --- |"] + lines).joined(separator: "\n")
    }

    // MARK: Tables in other formats

    /// The index: the words that each page explains, as `tcpprobe explain` names them.
    private static var wordTable: String {
        var lines = ["| page | words |", "| --- | --- |"]
        for page in pages {
            // Several actors on a page may have the same word, which is listed only once.
            var seen: Set<String> = []
            let words = page.tables.flatMap { entries(of: $0) }.map { "`\($0.name)`" }
                .filter { seen.insert($0).inserted }
            guard !words.isEmpty else { continue }
            lines.append("| [\(page.name)](\(page.name).md) | \(words.joined(separator: " · ")) |")
        }
        return lines.joined(separator: "\n")
    }

    private static var valueTable: String {
        func function(_ names: String...) -> [String] {
            LanguageTable.all.filter { $0.category == .function && names.contains($0.entry.spelling) }.map {
                "| `\($0.entry.rows[0].forms[0])` | \($0.entry.meaning) |"
            }
        }
        let frames = WebSocketExpression.Kind.allCases.map { kind in
            let forms = kind.entry.rows[0].forms.map { "`\($0)`" }.joined(separator: " · ")
            return "| \(forms) | \(kind.entry.meaning) |"
        }
        let lines =
            [
                "| form | value |", "| --- | --- |",
                "| `\"text\"` | the text, with the escapes `\\r \\n \\t \\0 \\\\ \\\" \\$ \\xHH \\u{H…}`; `${name}` and `${S.port}` are interpolated. A `$` that is not followed by `{` is literal |",
                "| `'text'` | the text as written, without escapes or interpolation |",
            ] + function("hex") + function("base64") + function("file") + function("random") + function("u8")
            + function("sized") + function("line") + function("lines") + frames + [
                "| `name` | the value of a variable |",
                "| `V * 3` · `V + V` | V repeated · two values joined; `*` binds more tightly than `+` |",
            ]
        return lines.joined(separator: "\n")
    }

    private static var propertyTable: String {
        let lines = ActorProperty.all.map { property in
            "| \(property.forms.map { "`\($0)`" }.joined(separator: property.separator)) | \(property.meaning) |"
        }
        return (["| property | value |", "| --- | --- |"] + lines).joined(separator: "\n")
    }

    /// The table of timing clauses, in which steps with the same clauses share a row. Steps that accept both clauses
    /// are listed by their verb; steps that accept neither clause are listed as "others".
    private static var timingTable: String {
        var groups: [(within: String, after: String, steps: [String])] = [("yes", "yes", [])]
        for listed in LanguageTable.all where [.verb, .expectation, .step].contains(listed.category) {
            guard let timing = listed.entry.timing else { continue }
            let (within, after) = (timing.within.text, timing.after.text)
            var name = listed.category == .step ? "\(listed.name) …" : listed.name
            if within == "yes", after == "yes" {
                name = listed.category == .expectation ? "expect" : listed.entry.word
            } else if within == "no", after == "no" {
                continue
            } else if listed.category == .verb, listed.entry.choice == listed.entry.word || listed.entry.rows.isEmpty {
                name = "\(listed.kind?.sample ?? "") \(listed.entry.word)"
            }
            let place = groups.firstIndex { $0.within == within && $0.after == after }
            let step = "`\(name)`"
            if let place, !groups[place].steps.contains(step) { groups[place].steps.append(step) }
            if place == nil { groups.append((within, after, [step])) }
        }
        let lines = groups.map { "| \($0.steps.joined(separator: ", ")) | \($0.within) | \($0.after) |" }
        return (["| step | `within` | `after` |", "| --- | --- | --- |"] + lines + ["| others | no | no |"])
            .joined(separator: "\n")
    }

    private static var reservedNames: String {
        var lines: [String] = ["```text", ""]
        for name in ReservedNames.all {
            if lines[lines.count - 1].isEmpty {
                lines[lines.count - 1] = name
            } else if lines[lines.count - 1].utf8.count + 1 + name.utf8.count <= 120 {
                lines[lines.count - 1] += " " + name
            } else {
                lines.append(name)
            }
        }
        return (lines + ["```"]).joined(separator: "\n")
    }
}
