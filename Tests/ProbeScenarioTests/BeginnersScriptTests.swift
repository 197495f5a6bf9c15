import ProbeScenario
import Testing

/// Mistakes made by users who have read only half of the tutorial. The first message must state how to correct the
/// mistake.
@Suite struct BeginnersScriptTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String { line }
        /// The line with the mistake.
        var line: String
        /// A text that the message or its hint must contain.
        var fix: String
        /// The script's text before the line with the mistake; `tail` is the text after that line.
        var head = BeginnersScriptTests.head
        var tail = "D expect line \"bye\"\n"
    }

    static let head = """
        scenario "a mail server says goodbye"
        server Mail
        client D -> Mail
        D connect
        Mail accept

        """
    static let title = "scenario \"a chat\"\n"
    static let rest = "D connect\nMail accept\nD expect line \"bye\"\n"

    static let scripts: [Wrong] = [
        Wrong(
            line: "server Mail port 2525", fix: "server Mail on 127.0.0.1:2525", head: title,
            tail: "client D -> Mail\n" + rest),
        Wrong(
            line: "server Mail listens on 2525", fix: "on 127.0.0.1:2525", head: title,
            tail: "client D -> Mail\n" + rest),
        Wrong(line: "client D connects to Mail", fix: "client D -> Mail", head: title + "server Mail\n", tail: rest),
        Wrong(line: "client D => Mail", fix: "client D -> Mail", head: title + "server Mail\n", tail: rest),
        Wrong(line: "client D \u{2192} Mail", fix: "`->`", head: title + "server Mail\n", tail: rest),
        Wrong(
            line: "transport T -> Mail", fix: "subject T -> S", head: title + "server Mail\n",
            tail: "T connect\nMail accept\nMail send \"bye\"\n"),
        Wrong(line: "client D -> localhost", fix: "localhost:8080", head: title, tail: "D connect\nD expect eof\n"),
        Wrong(line: "Mail\u{A0}send \"220 ready\\r\\n\"", fix: "a no-break space (U+00A0)"),
        Wrong(line: "Mail send \u{201E}hello\u{201C}", fix: "straight quotes"),
        Wrong(line: "if reply == \"ok\" {\n D close\n}", fix: "either { "),
        Wrong(line: "repeat 5 times { Mail send \"x\" }", fix: "for i in 1..3 {"),
        Wrong(line: "while (true) { Mail send \"x\" }", fix: "retry every 250ms"),
        Wrong(line: "sleep 2s", fix: "wait 1s"),
        Wrong(line: "Mail sleep 500ms", fix: "wait 1s"),
        Wrong(line: "print \"connected\"", fix: "note \"text\""),
        Wrong(line: "D receive line \"220 ready\"", fix: "D expect \"text\""),
        Wrong(line: "D read 4 bytes", fix: "D expect \"text\""),
        Wrong(line: "Mail write \"220 ready\\r\\n\"", fix: "Mail send \"text\""),
        Wrong(line: "D expect not \"error\"", fix: "expect nothing for 200ms"),
        Wrong(line: "D expect \"yes\" or \"no\"", fix: "either { C expect \"a\" } or { C expect \"b\" }"),
        Wrong(line: "D expect line \"220\" timeout 3s", fix: "within 2s"),
        Wrong(line: "Mail send \"no. ${count}\"", fix: "let count = "),
        Wrong(line: "// the greeting comes first", fix: "#"),
        Wrong(line: "Mail send \"220\" /* greeting */", fix: "#"),
        Wrong(line: "expect line \"220\"", fix: "Mail expect"),
        Wrong(line: "let n = 1\nMail send line \"no. $n\"", fix: "${n}"),
        Wrong(
            line: "Mail accept", fix: "D connect", head: title + "server Mail\nclient D -> Mail\n",
            tail: "D connect\nD expect eof\n"),
        Wrong(line: "check len(\"ab\") == 2 && 1 == 1", fix: "a separate step"),
        Wrong(
            line: "process P = python3 chat.py ${P.port}", fix: "${dir}/chat.py", head: title,
            tail: "client D -> P\nP start\nP expect listening\nD connect\nD expect eof\n"),
    ]

    @Test(arguments: scripts)
    func firstMessageNamesTheFix(_ wrong: Wrong) throws {
        let result = compile(wrong.head + wrong.line + "\n" + wrong.tail, files: ["chat.py": "print(1)\n"])
        let first = try #require(result.diagnostics.first)
        #expect((first.text + "\n" + (first.hint ?? "")).contains(wrong.fix), "\(result.rendered)")
        #expect(result.diagnostics.count <= 2, "\(result.rendered)")
    }

    /// The other lines of each script are valid: if the wrong line is removed or corrected, there is no diagnostic.
    @Test func restOfEachScriptIsValid() {
        #expect(compile(Self.head + "D expect line \"bye\"\n").rendered == "")
    }

    @Test func thereAreTwentyFiveScripts() { #expect(Set(Self.scripts.map(\.line)).count >= 25) }

    // MARK: Reading before there is a connection

    @Test(arguments: [
        "D stop reading\nD connect\nMail accept", "Mail stop reading\nD connect\nMail accept as A",
        "Mail read 1B every 1ms\nD connect\nMail accept",
        "D connect\nMail accept\nD close\nD stop reading\nD connect\nMail accept as A",
        "D connect\nMail accept as A\nMail stop reading\nE connect\nMail accept as B",
        "for i in 1..2 {\n D connect\n Mail accept as A\n D close\n A close\n D stop reading\n}",
    ])
    func readingBeforeAConnectionIsValid(_ steps: String) {
        let text = Self.title + "server Mail\nclient D -> Mail\nclient E -> Mail\n" + steps + "\n"
        #expect(!compile(text).diagnostics.contains { $0.id == .notConnected }, "\(compile(text).rendered)")
    }

    @Test(arguments: [
        ("D stop reading", "D connect"), ("Mail stop reading", "Mail accept"), ("D resume reading", "D connect"),
        ("E connect\nMail accept as A\nMail stop reading", "Mail accept"),
        ("D connect\nMail accept\nD close\nD read 1B every 1ms", "D connect"),
    ])
    func readingWithoutAConnectionIsAnError(_ steps: String, _ fix: String) {
        let text = Self.title + "server Mail\nclient D -> Mail\nclient E -> Mail\n" + steps + "\n"
        let errors = compile(text).diagnostics.filter { $0.id == .notConnected }
        #expect(errors.count == 1, "\(compile(text).rendered)")
        #expect(errors.first?.hint?.contains(fix) == true)
    }

    // MARK: Scripts of commands

    @Test(arguments: [
        ("python3 chat.py", "error"), ("./chat.py", "error"), ("python3 -u ./chat.py --verbose", "error"),
        ("cat chat.py", "warning"), ("python3 ${dir}/chat.py", nil), ("python3 -m http.server", nil),
        ("sh -c 'cat chat.py'", nil), ("echo chat", nil), ("python3 other.py", nil), ("node -e chat.py", "warning"),
    ])
    func commandsNamingScriptFilesAreDiagnosed(_ command: String, _ severity: String?) {
        let result = compile(
            Self.title + "process P = \(command)\nP start\nP expect exit 0\n",
            files: ["chat.py": "print(1)\n", "chat": ""])
        #expect(result.diagnostics.map(\.severity.rawValue) == (severity.map { [$0] } ?? []), "\(result.rendered)")
    }

    // MARK: Accepts that no client answers

    @Test(arguments: [
        "D connect\nMail accept\nD close", "together {\n Mail accept\n D connect\n}",
        "E connect to 127.0.0.1:9\nMail accept\nD connect",
        "P start\nMail accept as A\nD connect", "retry every 10ms within 1s { Mail accept }\nD connect",
        "T start\nMail accept as A\nD connect",
    ])
    func acceptAfterAPossibleConnectIsValid(_ steps: String) {
        let text =
            Self.title + "server Mail\nclient D -> Mail\nclient E\nsubject T -> Mail\nprocess P = cat\n" + steps + "\n"
        #expect(!compile(text).diagnostics.contains { $0.id == .acceptTooEarly }, "\(compile(text).rendered)")
    }

    /// Scripts in which the clients D and E connect to one server. Some `accept` steps are too early, and exactly one
    /// line is reported.
    @Test(arguments: [
        ("D connect\nMail accept as A\nMail accept as B #!\nE connect", "E connect"),
        ("D connect\nMail accept\nMail accept as B #!\nE connect", "E connect"),
        ("D connect\nE connect\nMail accept as A\nMail accept as B\nMail accept as F #!", "another client"),
        (
            "D connect\nMail accept as A\nA close\nD expect eof\nD close\nMail accept as B #!\nD connect\nE connect",
            "E connect"
        ),
        ("together {\n D connect\n Mail accept as A\n}\nMail accept as B #!\nE connect", "E connect"),
        ("retry every 1ms within 1s { D connect }\nMail accept as A\nMail accept as B #!\nE connect", "E connect"),
        (
            "D connect\neither { Mail accept as A } or { D expect eof }\nMail accept as B\nMail accept as F #!\nE connect",
            "E connect"
        ),
        ("do both\nMail accept as B #!\nE connect", "E connect"),
        (
            "D connect\nfor i in 1..2 {\n note \"a\"\n}\nMail accept as A\nMail accept as B #!\nMail accept as F\nE connect",
            "E connect"
        ),
    ])
    func laterAcceptsCanBeTooEarly(_ steps: String, _ fix: String) throws {
        let text =
            Self.title + "server Mail\nclient D -> Mail\nclient E -> Mail\n"
            + "define both {\n D connect\n Mail accept as A\n}\n" + steps + "\n"
        let result = compile(text)
        let early = result.diagnostics.filter { $0.id == .acceptTooEarly }
        #expect(early.count == 1, "\(result.rendered)")
        let line = try #require(text.split(separator: "\n").firstIndex { $0.hasSuffix("#!") }) + 1
        #expect(early.first.map { result.sources.location(of: $0.span).line } == line, "\(result.rendered)")
        #expect(early.first?.hint?.contains(fix) == true, "\(result.rendered)")
    }

    @Test(arguments: [
        "D connect\nE connect\nMail accept as A\nMail accept as B",
        "D connect\nMail accept as A\nE connect\nMail accept as B",
        "D connect\nMail accept as A\nD close\nD connect\nMail accept as B\nE connect",
        "for i in 1..3 {\n D connect\n D close\n}\nMail accept as A\nMail accept as B\nMail accept as F\nE connect",
        "for i in 1..3 {\n D connect\n Mail accept as A\n D close\n A close\n}\nE connect\nMail accept as B",
        "D connect\nE connect\nfor i in 1..n {\n Mail accept as A\n A close\n}\nMail accept as B",
        "D connect\nMail accept as A\ntogether {\n Mail accept as B\n E connect\n}",
        "together {\n do { D connect; D close; D connect }\n E connect\n}\nMail accept as A\nMail accept as B\nMail accept as F",
        "together {\n D connect\n do { E connect; E close }\n E connect\n}\nMail accept as A\nMail accept as B\nMail accept as F",
        "D connect\neither { Mail accept as A } or { D expect eof }\nMail accept as B\nE connect",
        "D connect\nMail accept as A\nwhenever A gets line /x/ { E connect }\nMail accept as B\nMail accept as F",
        "D connect\nMail accept as A\nT start\nMail accept as B\nE connect",
        "D connect\nMail accept as A\nP start\nMail accept as B\nE connect",
        "D connect\nMail accept as A\nretry every 1ms within 1s { Mail accept as B }\nE connect",
        "D connect\nMail accept as A\nF connect to 127.0.0.1:9\nMail accept as B\nE connect",
        "D connect\nMail accept as A\nfinally { Mail accept as B }\nE connect",
        "D connect timeout within 1ms\nD connect\nMail accept as A\nMail accept as B\nE connect",
    ])
    func laterAcceptsWithAPossibleClientAreValid(_ steps: String) {
        let text =
            Self.title + "each n = 1..3\nserver Mail\nclient D -> Mail\nclient E -> Mail\nclient F\nsubject T -> Mail\n"
            + "process P = cat\n" + steps + "\n"
        #expect(!compile(text).diagnostics.contains { $0.id == .acceptTooEarly }, "\(compile(text).rendered)")
    }

    @Test(arguments: [
        "server Mail on 127.0.0.1:2525\nclient D -> Mail\nMail accept\nD connect\n",
        "server Mail\nMail accept\nMail expect eof\n",
        "server Mail\nclient D\nMail accept\nD connect to 127.0.0.1:(int(\"${Mail.port}\"))\n",
    ])
    func acceptOfExternalClientsIsValid(_ text: String) {
        #expect(!compile(Self.title + text).diagnostics.contains { $0.id == .acceptTooEarly })
    }
}
