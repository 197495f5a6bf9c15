import ProbeBase

/// A scenario for an arbitrary client that talks to a server through a proxy. The client's exit status is the verdict.
package struct CommandScenario {
    private let target: String
    private let words: [String]

    /// Creates the scenario of a command.
    ///
    /// - Parameters:
    ///   - target: the address that the proxy connects to, in the script's notation.
    ///   - words: the command; `{port}` is replaced by the proxy's port.
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

    /// Returns escaped text for a title, without `${`, which would begin a variable. Existing escapes are kept.
    private static func literal(_ text: String) -> String { text.replacing("${", with: "$ {") }

    /// Returns a word of a `process` line that means exactly this text.
    private static func quoted(_ word: String) -> String {
        var text = ""
        for part in word.split(separator: "{port}", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { text += "${X.port}" }
            text += part.element.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "\\$")
        }
        return "\"\(text)\""
    }
}
