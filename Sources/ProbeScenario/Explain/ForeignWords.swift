/// Words and signs that users know from other languages, each with its equivalent here.
enum ForeignWords {
    /// Returns what to write instead of the first word of a line; `nil` if the word is not a known foreign one.
    static func statement(_ word: String, next: String, actors: [String]) -> String? {
        let known = word.lowercased()
        if let hint = statements[known] { return hint }
        guard let verb = verbsByHabit[known] ?? (LanguageTable.firstWordsOfVerbs.contains(known) ? known : nil) else {
            return nil
        }
        let actor = actors.contains(next) ? next : actors.first ?? "C"
        let example = ["send": "send \"text\"", "expect": "expect \"text\"", "read": "expect \"text\""][verb] ?? verb
        return "the actor comes first: \(actor) \(example)"
    }

    /// Returns whether the word begins a statement of another language.
    static func isStatement(_ word: String) -> Bool { statements[word.lowercased()] != nil }

    private static let loop =
        "repeat steps with for i in 1..3 { … }; until they succeed with retry every 250ms within 5s { … }"
    private static let condition =
        "there are no conditions: either { C expect \"a\" … } or { C expect \"b\" … } takes the branch whose "
        + "start comes; "
        + "check x == \"value\" compares"
    private static let comment = "a comment starts with #"
    private static let direction =
        "where a client connects to is declared in the header: client C -> S; the step is C connect"
    private static let constant = "a name gets its value by let: let x = \"value\""
    private static let text = "text for the report is written note \"text\""
    private static let pause = "a pause is written wait 1s"

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
            hints[word] = "compare a value with check x == \"value\"; what comes is expected: C expect \"text\""
        }
        for word in ["function", "func", "def", "fn", "proc", "sub", "macro", "procedure"] {
            hints[word] = "steps get a name by define greet { … } in the header, and run where do greet stands"
        }
        for word in ["import", "use", "using", "source", "load", "from"] {
            hints[word] = "another file is taken in by include \"common.scn\""
        }
        for word in ["try", "catch", "except", "defer", "cleanup", "teardown", "after", "ensure"] {
            hints[word] =
                "steps for the end of the case, whatever happened, are written finally { … }; what may fail at "
                + "first retry { … }"
        }
        for word in ["and", "also", "next"] {
            hints[word] = "write one step a line; steps that run at once stand in together { … }"
        }
        for word in ["or"] { hints[word] = "`or` stands between the branches of either: either { … } or { … }" }
        for word in ["parallel", "concurrent", "spawn", "thread", "async", "fork"] {
            hints[word] = "steps that run at once stand in together { … }"
        }
        for word in [
            "end", "done", "fi", "begin", "endif", "endfor", "break", "continue", "return", "exit", "stop", "pass",
        ] {
            hints[word] = "blocks are { … }, and the case ends with its last step: remove this"
        }
        for word in ["test", "title", "describe", "it", "feature", "suite", "testcase", "name"] {
            hints[word] = "a script starts with its title: scenario \"what it shows\""
        }
        for word in ["socket", "peer", "host", "connection"] {
            hints[word] = "the actors are declared as server S, client C -> S, subject T -> S, process P = command"
        }
        for word in ["transport", "adapter", "sut", "dut", "library", "driver", "implementation"] {
            hints[word] = "what is tested is declared as subject T -> S; --transport or --adapter says what it is"
        }
        for word in ["run", "exec", "system", "sh", "bash", "command", "program", "shell", "cmd"] {
            hints[word] = "a program is declared as process P = command args, and runs with P start"
        }
        for word in ["given", "expectation"] { hints[word] = "write one step a line: C expect \"text\"" }
        return hints
    }()

    /// Returns what to write instead of a verb that an actor does not have.
    static func verb(_ verb: String, of actor: String, _ kind: ActorKind) -> String? {
        let word = verb.lowercased()
        if ["wait", "sleep", "pause", "delay"].contains(word) {
            return "a pause stands on a line of its own, without an actor: wait 1s"
        }
        if ["print", "log", "echo", "say", "note"].contains(word), kind != .process {
            return "text for the report stands on a line of its own: note \"text\""
        }
        if ["check", "assert", "verify", "ensure", "should", "must", "has", "gets", "wants", "want", "sees", "is"]
            .contains(word)
        {
            return "what is to come is written \(actor) \(kind == .process ? "expect output /text/" : expectText)"
        }
        if let meant = verbsByHabit[word] ?? singular(word), let example = own(meant, of: actor, kind) {
            return example
        }
        return own(word, of: actor, kind)
    }

    private static let expectText = "expect \"text\""

    /// Returns `send` for `sends`.
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

    /// Returns the verb with this meaning for an actor of this kind.
    private static func own(_ meant: String, of actor: String, _ kind: ActorKind) -> String? {
        switch (meant, kind) {
        case ("connect", .crowd), ("send", .crowd), ("read", .crowd), ("close", .crowd), ("reset", .crowd),
            ("open", .crowd):
            "its members do that, all of them: \(actor) start { connect; send \"text\" }"
        case ("expect", .crowd): "all members together are looked at: \(actor) expect connected 100"
        case ("half-close", .crowd): nil
        case ("expect", .proxy), ("read", .proxy):
            "what passes is watched: \(actor) expect \"text\" from client"
        case ("send", .proxy):
            "what one end sends goes on by itself; bytes of nobody are \(actor) insert \"text\" to server"
        case ("close", .proxy): "say to which side: \(actor) close to client"
        case ("half-close", .proxy): "say to which side: \(actor) half-close to server"
        case ("reset", .proxy): "say which side: \(actor) reset client"
        case ("connect", .proxy), ("open", .proxy), ("listen", .proxy), ("start", .proxy), ("stop", .proxy):
            "it listens from the start of the case, and connects onwards by itself: \(actor) accept takes the next connection"
        case ("expect", .process): "its output is expected: \(actor) expect output /text/"
        case ("read", .process): "its output is expected: \(actor) expect output /text/"
        case ("read", .server), ("read", .client), ("read", .connection):
            "what comes is expected: \(actor) expect \"text\"; slow reading is \(actor) read 1B every 100ms"
        case ("expect", _): "what comes is expected: \(actor) expect \"text\""
        case ("send", .process): "it is written to with \(actor) send \"text\\n\""
        case ("send", _): "write \(actor) send \"text\""
        case ("close", .process): "end it with \(actor) stop, or wait for its end: \(actor) expect exit 0"
        case ("close", .subject): "end it with \(actor) stop"
        case ("close", _): "write \(actor) close (FIN) or \(actor) reset (RST)"
        case ("half-close", .process), ("reset", .process): "end it with \(actor) stop or \(actor) signal KILL"
        case ("half-close", _): "write \(actor) half-close"
        case ("reset", .subject): "end it with \(actor) stop"
        case ("reset", _): "write \(actor) reset"
        case ("open", .client), ("connect", .client), ("start", .client):
            "a client opens its connection with \(actor) connect"
        case ("listen", .client), ("accept", .client):
            "a client connects: \(actor) connect; a server listens by itself, and accepts: S accept"
        case ("open", .server), ("connect", .server), ("start", .server), ("listen", .server):
            "a server listens from the start of the case: write \(actor) accept"
        case ("open", .connection), ("connect", .connection), ("start", .connection), ("accept", .connection),
            ("listen", .connection):
            "it is a connection already, by its accept; a client connects: C connect"
        case ("stop", .server): "write \(actor) stop listening, or \(actor) close for its connection"
        case ("stop", .client), ("stop", .connection): "write \(actor) close (FIN) or \(actor) reset (RST)"
        case ("accept", .subject): "what it accepts is expected: \(actor) expect accept as A"
        case ("open", .subject), ("connect", .subject), ("listen", .subject), ("start", .subject):
            "a subject connects or listens with \(actor) start"
        case ("stop", .subject), ("stop", .process): "write \(actor) stop"
        case ("start", .process), ("open", .process): "write \(actor) start"
        case ("connect", .process), ("accept", .process), ("listen", .process):
            "a program does so by itself: \(actor) start, then \(actor) expect listening or \(actor) expect "
                + "output /text/"
        default: nil
        }
    }

    /// Returns what to write instead of a word after `expect`.
    static func expectation(_ word: String, _ kind: ActorKind) -> String? {
        if kind == .crowd {
            return ["line", "lines", "message", "bytes", "… bytes", "until", "eof", "reply", "response", "text"]
                .contains(word)
                ? "a member expects it: start { connect; expect line /text/ }; of all of them, expect done 100" : nil
        }
        switch word.lowercased() {
        case "not", "never", "none", "silence", "empty", "quiet", "timeout", "nothing-else":
            if kind == .process { return "write expect no output /text/" }
            return
                "what must not come is written expect nothing for 200ms; a value is compared with check x != "
                + "\"text\" or check x lacks \"text\""
        case "text", "string", "exactly", "equals", "equal", "is", "to", "receive", "receives", "recv", "response",
            "reply", "answer", "that", "be", "str", "content", "body":
            return kind == .process
                ? "write expect output /text/"
                : "the value stands right behind expect: expect \"text\", expect line \"text\""
        case "contains", "containing", "contain", "includes", "like", "regex", "regexp", "match", "matches", "pattern",
            "starts-with", "startswith", "endswith":
            return kind == .process
                ? "write expect output /text/" : "a part of a line is matched by a regex: expect line /text/"
        case "disconnect", "disconnected", "end", "fin", "hangup", "close", "closing", "eof":
            switch kind {
            case .process: return "write expect exit 0"
            case .subject: return "write expect stopped eof"
            default: return "the peer's FIN is expect eof, an RST is expect reset, either of them expect closed"
            }
        case "rst", "abort", "aborted":
            return kind == .subject ? "write expect stopped reset" : kind == .process ? nil : "write expect reset"
        case "connect", "connected", "connection", "connects":
            switch kind {
            case .server: return "a connection is taken by accept, without expect: S accept"
            case .subject: return "write expect started"
            case .process: return "write expect listening"
            default: return "connect succeeds or fails by itself, without expect: C connect"
            }
        case "accept", "accepted": return kind == .server ? "write accept without expect: S accept" : nil
        case "stdout", "stderr", "print", "prints", "log", "printed":
            return kind == .process ? "write expect output /text/" : nil
        case "status", "code", "exitcode", "exit-code", "exited", "success", "ok":
            return kind == .process ? "write expect exit 0" : nil
        case "anything", "something", "data", "bytes", "whatever", "all":
            return kind == .process
                ? "write expect output /./"
                : "whatever comes is expect any bytes as x, a line of any text expect line as x"
        default: return nil
        }
    }

    /// Returns what to write instead of a function of another language.
    static func function(_ name: String) -> String? {
        switch name.lowercased() {
        case "range": "a range is written 1..3"
        case "repeat", "times", "rep": "a value is repeated with *: \"ab\" * 3"
        case "concat", "join", "cat": "values are joined with +: \"a\" + \"b\""
        case "str", "string", "format", "sprintf", "tostring": "a number becomes text in a string: \"${n}\""
        case "length", "size", "count", "strlen", "sizeof": "write len(x)"
        case "number", "integer", "parseint", "atoi", "tonumber": "write int(x)"
        case "read", "open", "readfile", "contents", "load": "write file(\"payload.bin\")"
        case "bytes", "byte", "chr": "bytes are written hex(de ad be ef), \"\\xHH\" or u8(n)"
        case "rand", "rnd", "urandom": "write random(64KiB, seed 7)"
        case "upper", "lower", "trim", "strip", "replace", "split", "substr", "substring":
            "values are not edited; a part of a line is bound by a group of a regex: expect line /^(?<name>\\w+)/"
        case "env", "getenv", "argv": "a value from outside is a let of the header, set by --set name=value"
        case "crlf", "newline": "a line end is written \"\\r\\n\"; send line \"text\" adds it"
        case "regex", "re", "match": "a regex is written /…/: expect line /^220/"
        default: nil
        }
    }

    /// Returns what to write if the text found is not what the parser expected.
    static func instead(of found: String, expected what: String) -> String? {
        let word =
            found.hasPrefix("`") && found.hasSuffix("`") && found.count > 2
            ? String(found.dropFirst().dropLast()) : found
        switch (what, word) {
        case ("`=`", "=="): return "`==` compares; a value is given with one `=`: let x = \"value\""
        case (_, "=") where what.hasPrefix("`==`"), (_, "===") where what.hasPrefix("`==`"):
            return "`=` gives a value; two values are compared with `==`: check x == \"value\""
        case ("what is expected", "=="), ("what is expected", "="):
            return "the value stands right behind expect: expect \"text\""
        case ("the end of the line", _): return behindStatement(word)
        case (_, "=>") where what.hasPrefix("a verb behind"), (_, "-") where what.hasPrefix("a verb behind"),
            (_, "→") where what.hasPrefix("a verb behind"):
            return direction
        case (_, "=") where what.hasPrefix("a verb behind"): return constant
        case (_, ".") where what.hasPrefix("a verb behind"), (_, ":") where what.hasPrefix("a verb behind"):
            return "a space stands between the actor and its verb: C send \"text\""
        case (_, "->") where what.hasPrefix("a verb behind"):
            return direction
        case ("a duration", "for"), ("a duration", "until"):
            return
                "`wait` is a pause, such as wait 50ms; something to come is awaited by expect: C expect \"text\" "
                + "within 2s"
        default: return nil
        }
    }

    /// Returns what to write instead of a word after a complete statement.
    private static func behindStatement(_ word: String) -> String? {
        switch word {
        case "and", "then", "&&", "&": return "write one step a line; steps that run at once stand in together { … }"
        case "or", "||": return "one of several is written either { C expect \"a\" } or { C expect \"b\" }"
        case "if", "unless", "when", "else", "while", "until": return condition
        case "not":
            return "`!=` compares, `lacks` looks for bytes that are missing, expect nothing for 200ms waits for silence"
        case "timeout", "in", "for", "before", "deadline", "max", "maximum", "wait", "under":
            return "a deadline is written within: expect \"text\" within 2s"
        case "times": return "a value is repeated with *, steps with for i in 1..3 { … }"
        case ",": return "values are joined with +, the pieces of a send are separated by |"
        case "=", ":", "==": return "nothing stands between the words and the value: expect line \"text\""
        case "to", "from": return "an actor has one peer, which its declaration names: client C -> S"
        case "contains", "matches", "like": return "a part of a line is matched by a regex: expect line /text/"
        default:
            guard let first = word.utf8.first else { return nil }
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                return "values are joined with +: \"a\" + \"b\""
            }
            if first.isDigit { return "a deadline is written within: expect \"text\" within 2s" }
            return nil
        }
    }
}
