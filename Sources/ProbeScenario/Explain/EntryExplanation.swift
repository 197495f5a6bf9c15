import ProbeBase

/// The explanation of a language entry, for `tcpprobe explain`.
package enum EntryExplanation {
    package static func text(of listed: ListedEntry) -> String {
        let entry = listed.entry
        var text = "\(listed.name): \(role(of: listed))\n\n"
        for row in entry.rows.isEmpty ? [LanguageEntry.Row(forms: [entry.example], meaning: entry.meaning)] : entry.rows
        {
            text += "  " + row.forms.map { plain(listed.form($0)) }.joined(separator: "   ") + "\n"
            if !row.meaning.isEmpty { text += "      \(plain(row.meaning))\n" }
        }
        let preparation = entry.preparation.map { "    \($0)\n" } ?? ""
        text += "\nExample:\n\n\(preparation)    \(listed.example)\n"
        if let timing = entry.timing {
            text += "\nwithin: \(plain(timing.within.text))\nafter:  \(plain(timing.after.text))\n"
        }
        if entry.canBeUnneeded {
            text +=
                "\nif needed: allowed. Without this clause, the case is inconclusive if the statement has no effect\n"
        }
        if let capability = entry.capability {
            text += "\nRequired capability of the subject: \(capability.rawValue)\n"
        }
        return text
    }

    private static func role(of listed: ListedEntry) -> String {
        switch listed.category {
        case .header: "a header statement"
        case .step: "a step without an actor"
        case .wire: "a statement about captured packets"
        case .link: "a link command"
        case .member: "a step that each member of a crowd performs"
        case .function: "a function"
        case .verb: "a verb for \(article(listed.kind))"
        case .expectation: "an expectation for \(article(listed.kind))"
        }
    }

    private static func article(_ kind: ActorKind?) -> String {
        switch kind {
        case .connection, nil: "a connection (a client, a server after `accept`, or a connection named by `accept as`)"
        case .server, .client, .subject, .process, .proxy, .crowd, .link: "a \(kind?.rawValue ?? "")"
        }
    }

    /// Returns the text without the escapes of a table cell.
    package static func plain(_ text: String) -> String { text.replacing("\\|", with: "|") }
}
