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
            text += "\nif needed: may follow it. Without the clause the case is inconclusive if it has no effect\n"
        }
        if let capability = entry.capability {
            text += "\nNeeds of the subject: \(capability.rawValue)\n"
        }
        return text
    }

    private static func role(of listed: ListedEntry) -> String {
        switch listed.category {
        case .header: "a statement of the header"
        case .step: "a step that begins with no actor"
        case .wire: "a statement about what was captured"
        case .link: "what becomes of the packets of a link"
        case .member: "what each member of a crowd does"
        case .function: "a function of values"
        case .verb: "what \(article(listed.kind)) does"
        case .expectation: "what can be expected of \(article(listed.kind))"
        }
    }

    private static func article(_ kind: ActorKind?) -> String {
        switch kind {
        case .connection, nil: "a connection (a client's, a server's after its `accept`, one that `accept as` names)"
        case .server, .client, .subject, .process, .proxy, .crowd, .link: "a \(kind?.rawValue ?? "")"
        }
    }

    /// Returns a text of the reference as plain text: without the escapes of a table's cell, and without the targets of
    /// links.
    package static func plain(_ text: String) -> String {
        var rest = text.replacing("\\|", with: "|")[...]
        var plain = ""
        while let middle = rest.firstRange(of: "](") {
            let label = rest[..<middle.lowerBound]
            guard let start = label.lastIndex(of: "["), let end = rest[middle.upperBound...].firstIndex(of: ")") else {
                break
            }
            plain += label[..<start] + label[label.index(after: start)...]
            rest = rest[rest.index(after: end)...]
        }
        return plain + rest
    }
}
