import ProbeBase

/// The scenario of a client program that connects to a server through a proxy. The exit status of the client determines
/// the verdict.
package struct CommandScenario {
    /// The server that the client connects to.
    package enum Server: Sendable {
        /// A running server, whose address is in a script's notation.
        case address(String)
        /// A server that the scenario starts. In the command, which is in a script's notation, `{port}` is replaced with
        /// the port on which the server must listen.
        case command(String)
    }

    private let server: Server
    private let words: [String]

    /// Creates a scenario that runs a command.
    ///
    /// - Parameter words: the words of the command, in which `{port}` is replaced with the port of the proxy.
    package init(_ server: Server, words: [String]) {
        (self.server, self.words) = (server, words)
    }

    package var text: String {
        let shown = Escaped.bytes(Array(words.joined(separator: " ").utf8))
        let (process, target, start) =
            switch server {
            case .address(let address): ("", address, "")
            case .command(let command):
                (
                    "process  S = \(command.replacing("{port}", with: "${S.port}"))\n", "S",
                    "S start\nS expect listening\n"
                )
            }
        return """
            scenario "\(Self.literal(shown))"
            timeout  20s

            \(process)proxy    X -> \(target)
            process  C = \(Self.command(words, port: "X.port"))

            \(start)X forward to server
            X forward to client
            C start
            C expect exit 0

            """
    }

    /// Returns text for use in a title. Each `${` in the text is changed so that it does not begin a variable; escapes
    /// are kept.
    private static func literal(_ text: String) -> String { text.replacing("${", with: "$ {") }

    /// Returns a command for a `process` line that consists of exactly the given words.
    ///
    /// - Parameter port: the variable that replaces `{port}`.
    static func command(_ words: [String], port: String) -> String {
        words.map { quoted($0, port: port) }.joined(separator: " ")
    }

    private static func quoted(_ word: String, port: String) -> String {
        var text = ""
        for part in word.split(separator: "{port}", omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { text += "${\(port)}" }
            text += part.element.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "\\$")
        }
        return "\"\(text)\""
    }
}
