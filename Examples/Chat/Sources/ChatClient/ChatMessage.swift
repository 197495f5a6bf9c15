/// What the room tells.
public struct ChatMessage: Sendable, Equatable {
    /// Nil: the room itself, as in `Ada has joined`.
    public var name: String?
    /// What was said.
    public var text: String

    /// As the tutorial has it: split at each colon, the first part is the name and the last is the text.
    init(splitting line: String) {
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        name = parts.count > 1 ? String(parts[0]) : nil
        text = String(parts[parts.count - 1])
    }

    /// A name has no colon: it ends at the first one. All behind it is the text.
    init(_ line: String) {
        guard let colon = line.firstIndex(of: ":") else {
            text = line
            return
        }
        name = String(line[..<colon])
        text = String(line[line.index(after: colon)...])
    }
}
