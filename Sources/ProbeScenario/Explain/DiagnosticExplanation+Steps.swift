extension Dictionary<DiagnosticID, DiagnosticExplanation> {
    /// The diagnostics about the order of steps, values, links, hosts, crowds, and the whole file.
    static let stepDiagnostics: Self = [
        .unreachableStep: DiagnosticExplanation(
            meaning: "This step can never run. A connection can do nothing after its own `close` or `reset`, and it "
                + "can't send after `half-close`. Whatever the step is meant to test would never be tested.",
            wrong: #"""
                C close
                C send "a"
                """#,
            right: #"""
                C send "a"
                C close
                """#),
        .notConnected: DiagnosticExplanation(
            meaning: "The actor has no connection when this step runs.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                C send "a"
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                C send "a"
                """#),
        .alreadyConnected: DiagnosticExplanation(
            meaning: "The actor already has an open connection. An actor's name can refer to only one connection at a "
                + "time.",
            wrong: "C connect",
            right: #"""
                C close
                C connect
                """#),
        .secondAccept: DiagnosticExplanation(
            meaning: "After a plain `accept`, the server's name refers to the accepted connection. A second connection "
                + "needs its own name.",
            wrong: "S accept",
            right: #"""
                C close
                C connect
                S accept as A
                """#),
        .notRunning: DiagnosticExplanation(
            meaning:
                "The process, subject or crowd is not running when this step runs, or the server is not listening.",
            wrong: #"""
                scenario "example"
                process P = prog
                P expect listening
                """#,
            right: #"""
                scenario "example"
                process P = prog
                P start
                P expect listening
                """#),
        .alreadyRunning: DiagnosticExplanation(
            meaning: "The process is already running, or the server is already listening.",
            wrong: #"""
                scenario "example"
                process P = prog
                P start
                P start
                """#,
            right: #"""
                scenario "example"
                process P = prog
                P start
                P expect listening
                P stop
                P start
                """#),
        .bufferTooLate: DiagnosticExplanation(
            meaning:
                "The size of a buffer limits the TCP window only if it is set before the connection is established.",
            wrong: "C set receive-buffer 4KiB",
            right: #"""
                scenario "example"
                server S
                client C -> S with receive-buffer 4KiB
                C connect
                S accept
                """#),
        .timingNotHere: DiagnosticExplanation(
            meaning: "`within` and `after` are allowed only in steps that wait for a peer, such as `accept`, `connect` "
                + "and `expect`. `wire` accepts `within` only.",
            wrong: "C close within 1s",
            right: "C expect eof within 1s"),
        .eitherStart: DiagnosticExplanation(
            meaning: "Each branch of an `either` must start with an `expect` or an `accept`. The branch whose first "
                + "step is satisfied first is the one that runs.",
            wrong: #"either { S send "a" } or { C expect "b" }"#,
            right: #"either { C expect "a" } or { C expect "b" }"#),
        .nothingOnTheWire: DiagnosticExplanation(
            meaning: "The statement refers to a connection that does not exist when this step runs, so it would not "
                + "test anything.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                wire no rst
                C connect
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                wire no rst
                """#),
        .ambiguousConnection: DiagnosticExplanation(
            meaning: "The actor has had more than one connection, and the statement does not specify which one it "
                + "refers to.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                client D -> S
                C connect
                S accept as A
                D connect
                S accept as B
                wire no rst
                wire fin from S
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                client D -> S
                C connect
                S accept as A
                D connect
                S accept as B
                wire fin from A
                """#),
        .acceptTooEarly: DiagnosticExplanation(
            meaning: "No client can have connected when this `accept` runs. Steps run in order, and `accept` waits for "
                + "a connection. If every client of the server connects in a later step, or has already been "
                + "accepted, the step can only fail at its deadline.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                S accept
                C connect
                S send "a"
                C expect "a"
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                S send "a"
                C expect "a"
                """#),
        .nothingTested: DiagnosticExplanation(
            meaning: "No step expects anything. `connect`, `accept` and `close` don't check what is received on a "
                + "connection, so the scenario passes whatever the other side sends. This is a warning, and the "
                + "scenario still runs, because its purpose may be to show that nothing crashes.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                C send "a"
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                C send "a"
                S expect "a"
                """#),
        .noTLS: DiagnosticExplanation(
            meaning:
                "The step does not match the TLS state of its connection. For example, the connection does not use "
                + "TLS yet, already uses it or uses another version of it, or only the peer can perform the step. An "
                + "actor that is declared with `tls` starts with a handshake; `start tls` begins a handshake on an "
                + "established connection.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                S send notify
                C expect notify
                """#,
            right: #"""
                scenario "example"
                server S tls
                client C -> S tls
                C connect
                S accept
                S send notify
                C expect notify
                """#),
        .afterForged: DiagnosticExplanation(
            meaning: "After `send record` or `send alert`, ordinary data can no longer be sent. These steps write TLS "
                + "records without OpenSSL's knowledge, so OpenSSL would use a wrong sequence number for the next "
                + "record. Send everything that follows as records too. Records can be forged only on TLS 1.3 "
                + "connections.",
            wrong: #"""
                scenario "example"
                server S tls
                client C -> S tls
                C connect
                S accept
                S send record 23 ""
                S send "text"
                C expect "text"
                """#,
            right: #"""
                scenario "example"
                server S tls
                client C -> S tls
                C connect
                S accept
                S send record 23 ""
                S send record 23 "text"
                C expect "text"
                """#),
        .linkEnds: DiagnosticExplanation(
            meaning:
                "The ends of a link are invalid. A link has two sides, each with its own network. Its ends must be "
                + "servers, clients, subjects or processes. Each of them can be on only one link, and reaches only "
                + "the actors on the other side.",
            wrong: #"""
                scenario "example"
                server S
                server R
                client C -> S
                link R <-> C
                C connect
                S accept
                R accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                C connect
                S accept
                """#),
        .linkFault: DiagnosticExplanation(
            meaning: "No packet on the link can match the fault, so the fault would not test anything.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                link S -> C drop syn
                C connect
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                link S <-> C
                link C -> S drop syn
                C connect
                S accept
                """#),
        .hostName: DiagnosticExplanation(
            meaning: "The host name is invalid, or the script doesn't define it. A script answers queries only for the "
                + "host names in its `name` statements, one statement per name. A subject on a link can be given one "
                + "of these names, and resolves it itself; a program on a link can resolve all of these names.",
            wrong: #"""
                scenario "example"
                server S on link:8080
                subject T -> "chat.test":8080
                link S <-> T
                name "chta.test" = S
                T start
                S accept
                T expect started
                """#,
            right: #"""
                scenario "example"
                server S on link:8080
                subject T -> "chat.test":8080
                link S <-> T
                name "chat.test" = S
                T start
                S accept
                T expect started
                """#),
        .hostAddress: DiagnosticExplanation(
            meaning: "The name can't refer to this address or actor. A name refers to servers, processes and subjects "
                + "that listen, all on the same side of the same link; the actor that resolves the name is on the "
                + "other side. An address in 10.77.0.0/16 or fd77::/16 that belongs to no actor represents an "
                + "unreachable host.",
            wrong: #"""
                scenario "example"
                server S on link:8080
                server R
                subject T -> "chat.test":8080
                link S <-> T
                name "chat.test" = R, S
                T start
                S accept
                T expect started
                R expect no connection for 10ms
                """#,
            right: #"""
                scenario "example"
                server S on link:8080
                server R on link:8081
                subject T -> "chat.test":8080
                link S, R <-> T
                name "chat.test" = R, S
                T start
                S accept
                T expect started
                R expect no connection for 10ms
                """#),
        .crowdScript: DiagnosticExplanation(
            meaning: "The step is not possible for a crowd. All members of a crowd run the same script, which supports "
                + "only a few statements. Members can't bind names, and values are computed only once. A server in "
                + "the script discards what a crowd sends, and never replies.",
            wrong: #"""
                scenario "example"
                server S
                crowd W = 20 clients -> S
                W start { connect; expect line "hello" }
                W expect done 20
                """#,
            right: #"""
                scenario "example"
                server S
                crowd W = 20 clients -> S
                W start { connect; send "hello\r\n" }
                W expect done 20
                """#),
        .fileBesideScript: DiagnosticExplanation(
            meaning: "The file does not exist in the folder in which the program runs. Each program runs in a new, "
                + "private folder, so that cases do not share files. Use `${dir}` to refer to the script's folder.",
            wrong: #"""
                scenario "example"
                process P = python3 common.scn
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = python3 ${dir}/common.scn
                P start
                P expect exit 0
                """#),
        .fileMayBeBesideScript: DiagnosticExplanation(
            meaning:
                "An argument of the command is also the name of a file in the script's folder. The program runs in a "
                + "new, private folder, and would not find the file in that folder. This is a warning, because the "
                + "argument may mean something else.",
            wrong: #"""
                scenario "example"
                process P = cat common.scn
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = cat ${dir}/common.scn
                P start
                P expect exit 0
                """#),
        .missingBraces: DiagnosticExplanation(
            meaning:
                "A `$` without a `{` after it is an ordinary character. In this text, a name follows the `$`, so an "
                + "interpolation may have been intended. This is a warning, because the text may be intended as it is. "
                + "Write `\\$` to state that the `$` is literal.",
            wrong: #"""
                let n = 3
                S send "n=$n"
                C expect "n=$n"
                """#,
            right: #"""
                let n = 3
                S send "n=${n}"
                C expect "n=3"
                """#),
        .wrongType: DiagnosticExplanation(
            meaning: "The value has the wrong type. A value is either bytes or a number. Use `\"${n}\"` to convert a "
                + "number to decimal text, `u16(n)` to encode it as bytes, `int(x)` to read decimal text as a "
                + "number, and `len(x)` to count bytes.",
            wrong: "S send 12",
            right: #"S send "12""#),
        .mixedTypes: DiagnosticExplanation(
            meaning: "Numbers can be added only to numbers, and bytes can be joined only to bytes.",
            wrong: #"let x = "a" + 1"#,
            right: #"""
                let n = 1
                let x = "a" + "${n}"
                """#),
        .outOfRange: DiagnosticExplanation(
            meaning: "The number is outside the allowed range.",
            wrong: "S send u8(300)",
            right: "S send u16(300)"),
        .emptyValue: DiagnosticExplanation(
            meaning: "The value is empty. Expecting no bytes would always pass, and sending no bytes would do nothing.",
            wrong: #"C expect """#,
            right: "C expect nothing for 200ms"),
        .emptyRange: DiagnosticExplanation(
            meaning: "The `each` or `for` has no values, so it would run nothing and pass.",
            wrong: #"for i in 3..1 { S send "a" }"#,
            right: #"for i in 1..3 { S send "a" }"#),
        .cutPastEnd: DiagnosticExplanation(
            meaning: "The offset of a cut must be inside the value, and the offsets must be in ascending order.",
            wrong: #"S send "abc" cut at 3"#,
            right: #"S send "abc" cut at 2"#),
        .badBase64: DiagnosticExplanation(
            meaning: "`base64(…)` expects the alphabet of RFC 4648, section 4, with padding.",
            wrong: #"S send base64("a*")"#,
            right: #"S send base64("aGk=")"#),
        .cantCompute: DiagnosticExplanation(
            meaning: "The expression has no value. It overflows, divides by zero, exceeds 256 MiB, or is a line in a "
                + "framing without lines.",
            wrong: "let n = (1 / 0)",
            right: "let n = (4 / 2)"),
        .outsideFolder: DiagnosticExplanation(
            meaning: "A script can read files only in its own folder and the subfolders of that folder, so that an "
                + "untrusted script can't read your files.",
            wrong: #"S send file("../secret")"#,
            right: #"S send file("payload.bin")"#),
        .tooManyCases: DiagnosticExplanation(
            meaning: "Every `each` multiplies the number of cases. More than 100000 cases are probably a mistake, and "
                + "would take too long to run.",
            wrong: #"""
                scenario "example"
                each a = 1..1000
                each b = 1..1000
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                each a = 1..10
                each b = 1..10
                server S
                S accept
                """#),
        .targetNotAllowed: DiagnosticExplanation(
            meaning: "By default, a script can connect to and listen on loopback addresses only. An untrusted script "
                + "therefore can't reach other machines, nor be reached from them. To test another host, pass "
                + "`--allow-target HOST` or `--allow-target HOST:PORT` to `check` and `run`. This is also required "
                + "for any name other than `localhost`, because names are resolved only when the script runs.",
            wrong: #"""
                scenario "example"
                client C -> 192.0.2.1:80
                C connect
                C expect eof
                """#,
            right: #"""
                scenario "example"
                client C -> 127.0.0.1:80
                C connect
                C expect eof
                """#),
        .noScenario: DiagnosticExplanation(
            meaning:
                "The file is not a scenario, but something else, such as a program, an image or some other text. A "
                + "scenario is UTF-8 text that consists of statements in this language. To run an example from a "
                + "README or another document, copy it to a separate file whose name ends in `.scn`.",
            wrong: "root:x:0:0:root:/root:/bin/bash",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#),
        .emptyScript: DiagnosticExplanation(
            meaning: "The script contains nothing to run.",
            wrong: "# later",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#),
        .missingScenario: DiagnosticExplanation(
            meaning: "A script must start with a title, which appears in reports.",
            wrong: #"""
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                S accept
                """#),
        .scenarioNotFirst: DiagnosticExplanation(
            meaning: "The title must be the first statement.",
            wrong: #"""
                server S
                scenario "example"
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                S accept
                """#),
        .givenTwice: DiagnosticExplanation(
            meaning: "The statement applies to the whole scenario, so it can be given only once.",
            wrong: #"""
                scenario "example"
                timeout 1s
                timeout 2s
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                timeout 2s
                server S
                S accept
                """#),
        .headerAfterStep: DiagnosticExplanation(
            meaning: "Header statements must come before the first step, so that a reader finds them in one place.",
            wrong: "timeout 2s",
            right: "C expect eof within 2s"),
        .headerInBlock: DiagnosticExplanation(
            meaning: "A block can contain only steps. Header statements must be at the top of the script.",
            wrong: "do { timeout 2s }",
            right: "do { C expect eof within 2s }"),
        .emptyBlock: DiagnosticExplanation(
            meaning: "A block without steps would do nothing, and pass.",
            wrong: "do { }",
            right: #"do { S send "a" }"#),
        .unevenTable: DiagnosticExplanation(
            meaning:
                "All rows of a table must have the same number of cells, and the number of names that receive them "
                + "must match. Commas separate rows, and spaces separate cells.",
            wrong: #"""
                scenario "example"
                table rows = "a" 1, "b"
                each x, n in rows
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                table rows = "a" 1, "b" 2
                each x, n in rows
                server S
                S accept
                """#),
        .stepInInclude: DiagnosticExplanation(
            meaning:
                "An included file can contain only header statements and definitions. Put steps in a `define`, and "
                + "run it from the script with `do`.",
            wrong: #"S send "a""#,
            right: #"define greet { S send "a" }"#),
        .scenarioInInclude: DiagnosticExplanation(
            meaning: "Only the script itself can have a title. An included file can't.",
            wrong: #"scenario "common""#,
            right: #"let greeting = "hello""#),
        .includeMissing: DiagnosticExplanation(
            meaning: "The included file can't be read. Its path is relative to the folder of the script that includes "
                + "it.",
            wrong: #"""
                scenario "example"
                include "comon.scn"
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                include "common.scn"
                server S
                S accept
                """#),
        .includeCycle: DiagnosticExplanation(
            meaning: "A file includes itself, directly or through another file.",
            wrong: #"include "common.scn""#,
            right: #"let greeting = "hello""#),
        .unknownSetting: DiagnosticExplanation(
            meaning: "`--set name=value` replaces the value of a `let` in the header, and the script has no `let` with "
                + "this name.",
            wrong: nil,
            right: #"""
                scenario "example"
                let size = 1024
                server S
                S accept
                S send "a" * size
                """#),
    ]
}
