import ProbeBase

/// The scenario of a client of any kind that talks to a server through a proxy: its exit status is the verdict.
package struct CommandScenario {
    private let target: String
    private let words: [String]

    /// - Parameters:
    ///   - target: where the proxy connects to, as a script says it.
    ///   - words: the command; `{port}` stands for the proxy's port.
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

    /// A title holds no quote that ends it; what is escaped already stays so.
    private static func literal(_ text: String) -> String { text.replacing("${", with: "$ {") }

    /// A word of a `process` line that means just this text.
    private static func quoted(_ word: String) -> String {
        var text = ""
        for part in word.split(separator: "{port}", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { text += "${X.port}" }
            text += part.element.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "\\$")
        }
        return "\"\(text)\""
    }
}
