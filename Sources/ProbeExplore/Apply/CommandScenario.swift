import ProbeBase

/// The scenario of a client program that connects to a server through a proxy. The exit status of the client determines
/// the verdict.
package struct CommandScenario {
    private let target: String
    private let words: [String]

    /// Creates a scenario that runs a command.
    ///
    /// - Parameters:
    ///   - target: the address of the server, in a script's notation.
    ///   - words: the words of the command, in which `{port}` is replaced with the port of the proxy.
    package init(target: String, words: [String]) {
        (self.target, self.words) = (target, words)
    }

    package var text: String {
        let shown = Escaped.bytes(Array(words.joined(separator: " ").utf8))
        return """
            scenario "\(Self.literal(shown))"
            timeout  20s

            proxy    X -> \(target)
            process  C = \(words.map(Self.quoted).joined(separator: " "))

            X forward to server
            X forward to client
            C start
            C expect exit 0

            """
    }

    /// Returns text for use in a title. Each `${` in the text is changed so that it does not begin a variable; escapes
    /// are kept.
    private static func literal(_ text: String) -> String { text.replacing("${", with: "$ {") }

    /// Returns a word for a `process` line that represents exactly the given text.
    private static func quoted(_ word: String) -> String {
        var text = ""
        for part in word.split(separator: "{port}", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { text += "${X.port}" }
            text += part.element.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "\\$")
        }
        return "\"\(text)\""
    }
}
