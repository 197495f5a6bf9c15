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
