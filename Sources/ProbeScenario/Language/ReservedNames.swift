/// The closed list of words that no actor and no variable may be named like: each starts a statement.
package enum ReservedNames {
    /// Of the header.
    package static let header = [
        "scenario", "about", "because", "level", "tag", "require", "timeout", "case-timeout", "framing", "max-line",
        "each",
        "table", "let", "define", "include", "server", "client", "subject", "process", "crowd", "link", "name",
    ]
    /// Of the timeline.
    package static let steps = [
        "wait", "note", "let", "check", "for", "do", "together", "either", "retry", "finally", "whenever", "wire",
        "link",
    ]
    /// `${dir}` of a process line is the script's folder.
    package static let variables = ["dir"]

    package static let all: [String] = (header + steps + variables).sorted()
    private static let set = Set(all)

    package static func contains(_ name: String) -> Bool { set.contains(name) }
}
