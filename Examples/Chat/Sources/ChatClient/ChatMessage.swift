/// A message that the room sends to its members.
public struct ChatMessage: Sendable, Equatable {
    /// The name of the sender; nil for a message from the room itself, such as `Ada has joined`.
    public var name: String?
    /// The text of the message.
    public var text: String

    /// Parses a line as many tutorials do: the line is split at every colon, the first part is the name, and the last
    /// part is the text.
    init(splitting line: String) {
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        name = parts.count > 1 ? String(parts[0]) : nil
        text = String(parts[parts.count - 1])
    }

    /// Parses a line. A name can't contain a colon, so the first colon ends the name, and the text follows it.
    init(_ line: String) {
        guard let colon = line.firstIndex(of: ":") else {
            text = line
            return
        }
        name = String(line[..<colon])
        text = String(line[line.index(after: colon)...])
    }
}
