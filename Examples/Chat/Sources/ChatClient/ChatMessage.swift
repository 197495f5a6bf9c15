/// A message from the room.
public struct ChatMessage: Sendable, Equatable {
    /// The sender; nil for the room itself, as in `Ada has joined`.
    public var name: String?
    /// The text of the message.
    public var text: String

    /// Parses a line as many tutorials do: split at every colon, with the first part as the name and the last as the text.
    init(splitting line: String) {
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        name = parts.count > 1 ? String(parts[0]) : nil
        text = String(parts[parts.count - 1])
    }

    /// Parses a line: a name contains no colon, so it ends at the first one, and the rest is the text.
    init(_ line: String) {
        guard let colon = line.firstIndex(of: ":") else {
            text = line
            return
        }
        name = String(line[..<colon])
        text = String(line[line.index(after: colon)...])
    }
}
