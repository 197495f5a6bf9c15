/// Words and operators that users know from other languages, each with its equivalent in scenarios.
enum ForeignWords {
    /// Returns a hint that states what to write instead of the first word of a line; `nil` if the word is not a known
    /// word of another language.
    static func statement(_ word: String, next: String, actors: [String]) -> String? {
        let known = word.lowercased()
        if let hint = statements[known] { return hint }
        guard let verb = verbsByHabit[known] ?? (LanguageTable.firstWordsOfVerbs.contains(known) ? known : nil) else {
            return nil
        }
        let actor = actors.contains(next) ? next : actors.first ?? "C"
        let example = ["send": "send \"text\"", "expect": "expect \"text\"", "read": "expect \"text\""][verb] ?? verb
        return "start with the actor: `\(actor) \(example)`"
    }

    /// Returns whether the word begins a statement of another language.
    static func isStatement(_ word: String) -> Bool { statements[word.lowercased()] != nil }

    private static let loop =
        "use `for i in 1..3 { … }` to repeat steps, or `retry every 250ms within 5s { … }` to repeat them until they pass"
    private static let condition =
        "use `either { C expect \"a\" … } or { C expect \"b\" … }` to run the branch whose first step is satisfied "
        + "first, or `check x == \"value\"` to compare values; there are no conditional statements"
    private static let comment = "use `#` to start a comment"
    private static let direction =
        "declare the connection with `client C -> S` in the header, and open it with the step `C connect`"
    private static let constant = "use `let` to define a value: `let x = \"value\"`"
    private static let text = "use `note \"text\"` to add text to the report"
    private static let pause = "use `wait 1s` to pause"

    private static let statements: [String: String] = {
        var hints: [String: String] = [:]
        for word in ["if", "else", "elif", "elseif", "elsif", "switch", "case", "when", "unless", "then", "not"] {
            hints[word] = condition
        }
        for word in ["while", "repeat", "loop", "foreach", "until", "times", "forever"] { hints[word] = loop }
        for word in ["print", "println", "printf", "echo", "log", "puts", "say", "comment", "trace", "debug"] {
            hints[word] = text
        }
        for word in ["sleep", "pause", "delay", "usleep", "idle"] { hints[word] = pause }
        for word in ["var", "const", "set", "val", "local", "global", "int", "string", "auto"] {
            hints[word] = constant
        }
        for word in ["assert", "verify", "should", "must"] {
            hints[word] = "use `check x == \"value\"` to compare values, or `C expect \"text\"` to check received data"
        }
        for word in ["function", "func", "def", "fn", "proc", "sub", "macro", "procedure"] {
            hints[word] = "define the steps with `define greet { … }` in the header, and run them with `do greet`"
        }
        for word in ["import", "use", "using", "source", "load", "from"] {
            hints[word] = "use `include \"common.scn\"` to include another file"
        }
        for word in ["try", "catch", "except", "defer", "cleanup", "teardown", "after", "ensure"] {
            hints[word] =
                "use `finally { … }` for steps that always run at the end of the case, or "
                + "`retry every 250ms within 5s { … }` for steps that may fail at first"
        }
        for word in ["and", "also", "next"] {
            hints[word] = "write one step per line; use `together { … }` to run steps concurrently"
        }
        for word in ["or"] { hints[word] = "put `or` between the branches of an `either`: `either { … } or { … }`" }
        for word in ["parallel", "concurrent", "spawn", "thread", "async", "fork"] {
            hints[word] = "use `together { … }` to run steps concurrently"
        }
        for word in [
            "end", "done", "fi", "begin", "endif", "endfor", "break", "continue", "return", "exit", "stop", "pass",
        ] {
            hints[word] = "remove this word; blocks are enclosed in `{ … }`, and the case ends after its last step"
        }
        for word in ["test", "title", "describe", "it", "feature", "suite", "testcase", "name"] {
            hints[word] = "start the script with a title: `scenario \"what it shows\"`"
        }
        for word in ["socket", "peer", "host", "connection"] {
            hints[word] =
                "declare the actors with `server S`, `client C -> S`, `subject T -> S` or `process P = command`"
        }
        for word in ["transport", "adapter", "sut", "dut", "library", "driver", "implementation"] {
            hints[word] =
                "declare the transport under test with `subject T -> S`, and select it with `--transport` or `--adapter`"
        }
        for word in ["run", "exec", "system", "sh", "bash", "command", "program", "shell", "cmd"] {
            hints[word] = "declare the program with `process P = command args`, and start it with `P start`"
        }
        for word in ["given", "expectation"] { hints[word] = "write one step per line: `C expect \"text\"`" }
        return hints
    }()

    /// Returns a hint that states what to write instead of a verb that an actor does not have.
    static func verb(_ verb: String, of actor: String, _ kind: ActorKind) -> String? {
        let word = verb.lowercased()
        if ["wait", "sleep", "pause", "delay"].contains(word) {
            return "use a separate step without an actor to pause: `wait 1s`"
        }
        if ["print", "log", "echo", "say", "note"].contains(word), kind != .process {
            return "use a separate step without an actor to add text to the report: `note \"text\"`"
        }
        if ["check", "assert", "verify", "ensure", "should", "must", "has", "gets", "wants", "want", "sees", "is"]
            .contains(word)
        {
            return kind == .process
                ? "use `\(actor) expect output /text/` to check the output"
                : "use `\(actor) \(expectText)` to check received data"
        }
        if let meant = verbsByHabit[word] ?? singular(word), let example = own(meant, of: actor, kind) {
            return example
        }
        return own(word, of: actor, kind)
    }

    private static let expectText = "expect \"text\""

    /// Returns the word without its final `s`, such as `send` for `sends`; `nil` if the result would not be a verb.
    private static func singular(_ word: String) -> String? {
        guard word.hasSuffix("s"),
            LanguageTable.firstWordsOfVerbs.contains(String(word.dropLast()))
                || ["connects", "accepts", "starts", "stops", "signals", "listens"].contains(word)
        else { return nil }
        return String(word.dropLast())
    }

    private static let verbsByHabit: [String: String] = [
        "receive": "expect", "receives": "expect", "recv": "expect", "get": "expect", "await": "expect",
        "waitfor": "expect", "match": "expect", "expects": "expect", "write": "send", "writes": "send", "put": "send",
        "transmit": "send", "sendline": "send", "sendall": "send", "emit": "send", "reply": "send", "respond": "send",
        "answer": "send", "disconnect": "close", "hangup": "close", "shutdown": "half-close", "fin": "close",
        "end": "close", "quit": "close", "exit": "close", "finish": "close", "abort": "reset", "rst": "reset",
        "open": "open", "dial": "connect", "join": "connect", "reconnect": "connect", "launch": "start",
        "spawn": "start", "exec": "start", "run": "start", "begin": "start", "restart": "start", "kill": "stop",
        "terminate": "stop", "bind": "listen",
    ]

    /// Returns a hint with the verb that has the given meaning for an actor of the given kind.
    private static func own(_ meant: String, of actor: String, _ kind: ActorKind) -> String? {
        switch (meant, kind) {
        case ("connect", .crowd), ("send", .crowd), ("read", .crowd), ("close", .crowd), ("reset", .crowd),
            ("open", .crowd):
            "add this statement to the script of the crowd's members: `\(actor) start { connect; send \"text\" }`"
        case ("expect", .crowd): "use `expect connected` to check all members together: `\(actor) expect connected 100`"
        case ("half-close", .crowd): nil
        case ("expect", .proxy), ("read", .proxy):
            "use `\(actor) expect \"text\" from client` to check the data that passes through"
        case ("send", .proxy):
            "use `\(actor) insert \"text\" to server` to add bytes; data from either end is forwarded automatically"
        case ("close", .proxy): "specify the side: `\(actor) close to client`"
        case ("half-close", .proxy): "specify the side: `\(actor) half-close to server`"
        case ("reset", .proxy): "specify the side: `\(actor) reset client`"
        case ("connect", .proxy), ("open", .proxy), ("listen", .proxy), ("start", .proxy), ("stop", .proxy):
            "use `\(actor) accept` to accept the next connection; a proxy listens from the start of the case, and connects "
                + "to its target automatically"
        case ("expect", .process): "use `\(actor) expect output /text/` to check the output"
        case ("read", .process): "use `\(actor) expect output /text/` to check the output"
        case ("read", .server), ("read", .client), ("read", .connection):
            "use `\(actor) expect \"text\"` to check received data, or `\(actor) read 1B every 100ms` to read slowly"
        case ("expect", _): "use `\(actor) expect \"text\"` to check received data"
        case ("send", .process): "use `\(actor) send \"text\\n\"` to write to its standard input"
        case ("send", _): "use `\(actor) send \"text\"`"
        case ("close", .process):
            "use `\(actor) stop` to stop the program, or `\(actor) expect exit 0` to wait until it exits"
        case ("close", .subject): "use `\(actor) stop`"
        case ("close", _): "use `\(actor) close` to send a FIN, or `\(actor) reset` to send an RST"
        case ("half-close", .process), ("reset", .process): "use `\(actor) stop` or `\(actor) signal KILL`"
        case ("half-close", _): "use `\(actor) half-close`"
        case ("reset", .subject): "use `\(actor) stop`"
        case ("reset", _): "use `\(actor) reset`"
        case ("open", .client), ("connect", .client), ("start", .client):
            "use `\(actor) connect` to open the connection"
        case ("listen", .client), ("accept", .client):
            "use `\(actor) connect` on the client, and `S accept` on the server, which listens automatically"
        case ("open", .server), ("connect", .server), ("start", .server), ("listen", .server):
            "use `\(actor) accept`; a server listens from the start of the case"
        case ("open", .connection), ("connect", .connection), ("start", .connection), ("accept", .connection),
            ("listen", .connection):
            "remove this step, because an accepted connection is already open; use `C connect` on a client"
        case ("stop", .server): "use `\(actor) stop listening`, or `\(actor) close` to close its connection"
        case ("stop", .client), ("stop", .connection):
            "use `\(actor) close` to send a FIN, or `\(actor) reset` to send an RST"
        case ("accept", .subject): "use `\(actor) expect accept as A` to check that it accepts a connection"
        case ("open", .subject), ("connect", .subject), ("listen", .subject), ("start", .subject):
            "use `\(actor) start`, which makes the subject connect or listen"
        case ("stop", .subject), ("stop", .process): "use `\(actor) stop`"
        case ("start", .process), ("open", .process): "use `\(actor) start`"
        case ("connect", .process), ("accept", .process), ("listen", .process):
            "use `\(actor) start`, then `\(actor) expect listening` or `\(actor) expect output /text/`; the program "
                + "itself connects or listens"
        default: nil
        }
    }

    /// Returns a hint that states what to write instead of a word after `expect`.
    static func expectation(_ word: String, _ kind: ActorKind) -> String? {
        if kind == .crowd {
            return ["line", "lines", "message", "bytes", "… bytes", "until", "eof", "reply", "response", "text"]
                .contains(word)
                ? "add the statement to the script of the crowd's members: `start { connect; expect line /text/ }`; to "
                    + "check all members together, use `expect done 100`" : nil
        }
        switch word.lowercased() {
        case "not", "never", "none", "silence", "empty", "quiet", "timeout", "nothing-else":
            if kind == .process { return "use `expect no output /text/`" }
            return
                "use `expect nothing for 200ms` to check that nothing is received, or `check x != \"text\"` or "
                + "`check x lacks \"text\"` to compare a value"
        case "text", "string", "exactly", "equals", "equal", "is", "to", "receive", "receives", "recv", "response",
            "reply", "answer", "that", "be", "str", "content", "body":
            return kind == .process
                ? "use `expect output /text/`"
                : "put the value directly after `expect`: `expect \"text\"` or `expect line \"text\"`"
        case "contains", "containing", "contain", "includes", "like", "regex", "regexp", "match", "matches", "pattern",
            "starts-with", "startswith", "endswith":
            return kind == .process
                ? "use `expect output /text/`" : "use a regex to match part of a line: `expect line /text/`"
        case "disconnect", "disconnected", "end", "fin", "hangup", "close", "closing", "eof":
            switch kind {
            case .process: return "use `expect exit 0`"
            case .subject: return "use `expect stopped eof`"
            default:
                return
                    "use `expect eof` for a FIN from the peer, `expect reset` for an RST, or `expect closed` for either"
            }
        case "rst", "abort", "aborted":
            return kind == .subject ? "use `expect stopped reset`" : kind == .process ? nil : "use `expect reset`"
        case "connect", "connected", "connection", "connects":
            switch kind {
            case .server: return "use `S accept`, without `expect`, to accept a connection"
            case .subject: return "use `expect started`"
            case .process: return "use `expect listening`"
            default: return "use `C connect`, without `expect`; the step itself passes or fails"
            }
        case "accept", "accepted": return kind == .server ? "use `S accept`, without `expect`" : nil
        case "stdout", "stderr", "print", "prints", "log", "printed":
            return kind == .process ? "use `expect output /text/`" : nil
        case "status", "code", "exitcode", "exit-code", "exited", "success", "ok":
            return kind == .process ? "use `expect exit 0`" : nil
        case "anything", "something", "data", "bytes", "whatever", "all":
            return kind == .process
                ? "use `expect output /./`"
                : "use `expect any bytes as x` to accept any bytes, or `expect line as x` to accept any line"
        default: return nil
        }
    }

    /// Returns a hint that states what to write instead of a function of another language.
    static func function(_ name: String) -> String? {
        switch name.lowercased() {
        case "range": "write a range as `1..3`"
        case "repeat", "times", "rep": "use `*` to repeat a value: `\"ab\" * 3`"
        case "concat", "join", "cat": "use `+` to join values: `\"a\" + \"b\"`"
        case "str", "string", "format", "sprintf", "tostring": "interpolate the number into a string: `\"${n}\"`"
        case "length", "size", "count", "strlen", "sizeof": "use `len(x)`"
        case "number", "integer", "parseint", "atoi", "tonumber": "use `int(x)`"
        case "read", "open", "readfile", "contents", "load": "use `file(\"payload.bin\")`"
        case "bytes", "byte", "chr": "use `hex(de ad be ef)`, `\"\\xHH\"` or `u8(n)` for bytes"
        case "rand", "rnd", "urandom": "use `random(64KiB, seed 7)`"
        case "upper", "lower", "trim", "strip", "replace", "split", "substr", "substring":
            "use a regex group to extract part of a line: `expect line /^(?<name>\\w+)/`; values can't be modified"
        case "env", "getenv", "argv": "declare the value with `let` in the header, and set it with `--set name=value`"
        case "crlf", "newline": "write a line ending as `\"\\r\\n\"`, or use `send line \"text\"`, which appends it"
        case "regex", "re", "match": "write a regex between slashes: `expect line /^220/`"
        default: nil
        }
    }

    /// Returns a hint that states what to write if the parser found something other than what it expected.
    static func instead(of found: String, expected what: String) -> String? {
        let word =
            found.hasPrefix("`") && found.hasSuffix("`") && found.count > 2
            ? String(found.dropFirst().dropLast()) : found
        switch (what, word) {
        case ("`=`", "=="): return "use a single `=` to assign a value: `let x = \"value\"`"
        case (_, "=") where what.hasPrefix("`==`"), (_, "===") where what.hasPrefix("`==`"):
            return "use `==` to compare values: `check x == \"value\"`"
        case ("an expectation", "=="), ("an expectation", "="):
            return "put the value directly after `expect`: `expect \"text\"`"
        case ("the end of the line", _): return afterStatement(word)
        case (_, "=>") where what.hasPrefix("a verb after"), (_, "-") where what.hasPrefix("a verb after"),
            (_, "→") where what.hasPrefix("a verb after"):
            return direction
        case (_, "=") where what.hasPrefix("a verb after"): return constant
        case (_, ".") where what.hasPrefix("a verb after"), (_, ":") where what.hasPrefix("a verb after"):
            return "put a space between the actor and the verb: `C send \"text\"`"
        case (_, "->") where what.hasPrefix("a verb after"):
            return direction
        case ("a duration", "for"), ("a duration", "until"):
            return "use `wait 50ms` to pause, or `C expect \"text\" within 2s` to wait for data"
        default: return nil
        }
    }

    /// Returns a hint that states what to write instead of a word after a complete statement.
    private static func afterStatement(_ word: String) -> String? {
        switch word {
        case "and", "then", "&&", "&": return "write one step per line; use `together { … }` to run steps concurrently"
        case "or", "||": return "use `either { C expect \"a\" } or { C expect \"b\" }` to accept one of several values"
        case "if", "unless", "when", "else", "while", "until": return condition
        case "not":
            return
                "use `!=` to compare values, `lacks` to check that bytes are absent, or `expect nothing for 200ms` to check "
                + "that nothing is received"
        case "timeout", "in", "for", "before", "deadline", "max", "maximum", "wait", "under":
            return "use `within` to set a deadline: `expect \"text\" within 2s`"
        case "times": return "use `*` to repeat a value, or `for i in 1..3 { … }` to repeat steps"
        case ",": return "use `+` to join values, or `|` to separate the pieces of a `send`"
        case "=", ":", "==": return "remove the `\(word)` before the value: `expect line \"text\"`"
        case "to", "from": return "declare the peer of an actor in the header: `client C -> S`"
        case "contains", "matches", "like": return "use a regex to match part of a line: `expect line /text/`"
        default:
            guard let first = word.utf8.first else { return nil }
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                return "use `+` to join values: `\"a\" + \"b\"`"
            }
            if first.isDigit { return "use `within` to set a deadline: `expect \"text\" within 2s`" }
            return Suggestion.nearest(to: word, among: LanguageWord.clauseWords).map { "did you mean `\($0)`?" }
        }
    }
}
