extension Dictionary<DiagnosticID, DiagnosticExplanation> {
    /// The diagnostics about steps: their order and values, links, hosts, crowds, and the file as a whole.
    static let ofSteps: Self = [
        .unreachableStep: DiagnosticExplanation(
            meaning: "After its own close or reset a connection can do nothing more, and after half-close it can't "
                + "send. The step could never happen, so what it tests would never be tested.",
            wrong: #"""
                C close
                C send "a"
                """#,
            right: #"""
                C send "a"
                C close
                """#),
        .notConnected: DiagnosticExplanation(
            meaning: "The actor has no connection at this step yet.",
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
            meaning: "The actor has a connection that is still open. One name means one connection.",
            wrong: "C connect",
            right: #"""
                C close
                C connect
                """#),
        .secondAccept: DiagnosticExplanation(
            meaning: "After plain accept the server's name means that connection. A second one needs a name of its "
                + "own.",
            wrong: "S accept",
            right: #"""
                C close
                C connect
                S accept as A
                """#),
        .notRunning: DiagnosticExplanation(
            meaning: "The process or subject is not running at this step, or the server does not listen.",
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
            meaning: "The process runs, or the server listens, already.",
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
            meaning: "The size of a buffer bounds the window only when it is set before the connection is up.",
            wrong: "C set receive-buffer 4KiB",
            right: #"""
                scenario "example"
                server S
                client C -> S with receive-buffer 4KiB
                C connect
                S accept
                """#),
        .timingNotHere: DiagnosticExplanation(
            meaning: "within and after are for steps that wait for a peer: accept, connect, expect, and wire (within "
                + "only).",
            wrong: "C close within 1s",
            right: "C expect eof within 1s"),
        .eitherStart: DiagnosticExplanation(
            meaning: "A branch of either is chosen by its first step: the first whose expect or accept is met is "
                + "taken. So each branch starts with one.",
            wrong: #"either { S send "a" } or { C expect "b" }"#,
            right: #"either { C expect "a" } or { C expect "b" }"#),
        .nothingOnTheWire: DiagnosticExplanation(
            meaning: "The statement is about a connection that does not exist at this step: it would be true of "
                + "nothing.",
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
            meaning: "The actor has had several connections, and the statement does not say which one is meant.",
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
            meaning:
                "Steps run in order, and accept waits for a connection. Where all that connect to the server do so "
                + "further down, or have been accepted by earlier steps, none can come, and the step would fail at its "
                + "deadline.",
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
            meaning:
                "No step expects anything: connect, accept and close say nothing of what comes on a connection, so "
                + "the scenario passes whatever the other side sends. It is a warning, and the scenario runs: to show "
                + "that nothing crashes may be the point.",
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
                "A step is about TLS, and its connection has none at this place, or it has it already, or another version, or is its "
                + "other end. An actor that is declared "
                + "with tls begins with the handshake; start tls begins it on a connection that is up.",
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
            meaning:
                "send record and send alert write a record that OpenSSL does not know of, so that it does not know the number of "
                + "the next one either: what belongs behind it is sent as a record too. Records are forged on connections of "
                + "TLS 1.3 only.",
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
                "A link has two sides, each with a network of its own. Its ends are servers, clients, subjects and processes; each "
                + "is on one link, and reaches only what is on the other side.",
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
            meaning: "No packet of the link can be what the fault is about, so nothing would be tested.",
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
            meaning:
                "The names of hosts that a script answers for are those of its `name` statements, one statement a name. A subject "
                + "on a link is told one, and looks it up by itself; a program on a link may look up any of them.",
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
            meaning:
                "A name stands for servers, processes and subjects that listen, on one side of one link: whoever asks for it is on "
                + "the other side. An address of 10.77.0.0/16 or of fd77::/16 that no actor has stands for a host that is away.",
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
            meaning:
                "All members of a crowd have one script, of few statements. They bind no names, and their values are computed once. "
                + "A server of the script drops what a crowd sends: it never answers.",
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
            meaning:
                "A program runs in a fresh folder of its own, so that cases do not share files. A file of the script's "
                + "folder is not there: ${dir} names that folder.",
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
                "A word of the command is the name of a file beside the script. The program runs in a fresh "
                + "folder of its "
                + "own, and does not find the file there. It is a warning: the word may mean something else.",
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
                "A $ before anything but { is itself, and there is a name that it may have meant. It is a warning: the "
                + "bytes may be meant so, and then \\$ says it.",
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
            meaning: "A value is bytes or a number, and here the other one is meant. \"${n}\" is the decimal text of a "
                + "number, u16(n) its bytes; int(x) reads decimal text, len(x) counts bytes.",
            wrong: "S send 12",
            right: #"S send "12""#),
        .mixedTypes: DiagnosticExplanation(
            meaning: "Numbers are added to numbers and bytes joined to bytes.",
            wrong: #"let x = "a" + 1"#,
            right: #"""
                let n = 1
                let x = "a" + "${n}"
                """#),
        .outOfRange: DiagnosticExplanation(
            meaning: "The number does not fit where it stands.",
            wrong: "S send u8(300)",
            right: "S send u16(300)"),
        .emptyValue: DiagnosticExplanation(
            meaning: "Expecting nothing always passes, and sending nothing does nothing.",
            wrong: #"C expect """#,
            right: "C expect nothing for 200ms"),
        .emptyRange: DiagnosticExplanation(
            meaning: "An each or a for over nothing would run nothing, and pass.",
            wrong: #"for i in 3..1 { S send "a" }"#,
            right: #"for i in 1..3 { S send "a" }"#),
        .cutPastEnd: DiagnosticExplanation(
            meaning: "A cut lies inside the value, and offsets rise.",
            wrong: #"S send "abc" cut at 3"#,
            right: #"S send "abc" cut at 2"#),
        .badBase64: DiagnosticExplanation(
            meaning: "base64(…) takes the alphabet of RFC 4648, section 4, with padding.",
            wrong: #"S send base64("a*")"#,
            right: #"S send base64("aGk=")"#),
        .cantCompute: DiagnosticExplanation(
            meaning: "The expression has no value: it overflows, divides by zero, is larger than 256 MiB, or is a line "
                + "in a framing that has no lines.",
            wrong: "let n = (1 / 0)",
            right: "let n = (4 / 2)"),
        .outsideFolder: DiagnosticExplanation(
            meaning: "A script reads files of its own folder and below only, so that a script from a stranger can't "
                + "read yours.",
            wrong: #"S send file("../secret")"#,
            right: #"S send file("payload.bin")"#),
        .tooManyCases: DiagnosticExplanation(
            meaning: "Several each multiply. More than 100000 cases are a slip, or a run that nobody waits for.",
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
            meaning:
                "A script connects to loopback addresses and listens on them, so that a script from a stranger reaches "
                + "no other machine and is reached from none. check and run take --allow-target HOST or HOST:PORT for "
                + "what else is yours to test. A name other than localhost has to be given in that way too: what it "
                + "stands for is found out by the run.",
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
                "The file is something else: a program, a picture, a text of another kind. A scenario is UTF-8 "
                + "text, and its lines are statements of this language. An example in a README or another text has "
                + "to be copied into a file of its own that ends in .scn.",
            wrong: "root:x:0:0:root:/root:/bin/bash",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#),
        .emptyScript: DiagnosticExplanation(
            meaning: "There is nothing to run.",
            wrong: "# later",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#),
        .missingScenario: DiagnosticExplanation(
            meaning: "A script starts with its title, which reports show.",
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
            meaning: "The title is the first statement.",
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
            meaning: "The statement says one thing for the whole scenario.",
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
            meaning: "Statements of the header come before the first step, so that a reader finds them.",
            wrong: "timeout 2s",
            right: "C expect eof within 2s"),
        .headerInBlock: DiagnosticExplanation(
            meaning: "A block holds steps. Statements of the header stand at the top of the script.",
            wrong: "do { timeout 2s }",
            right: "do { C expect eof within 2s }"),
        .emptyBlock: DiagnosticExplanation(
            meaning: "A block without steps would pass by doing nothing.",
            wrong: "do { }",
            right: #"do { S send "a" }"#),
        .unevenTable: DiagnosticExplanation(
            meaning: "The rows of a table have the same number of cells, and so have the names that take them. Rows "
                + "are separated by commas, cells by spaces.",
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
            meaning: "An included file gives its header statements and definitions. Steps belong into a define, which "
                + "the script runs with do.",
            wrong: #"S send "a""#,
            right: #"define greet { S send "a" }"#),
        .scenarioInInclude: DiagnosticExplanation(
            meaning: "The title is that of the script, not of what it includes.",
            wrong: #"scenario "common""#,
            right: #"let greeting = "hello""#),
        .includeMissing: DiagnosticExplanation(
            meaning: "The file can't be read. Its path counts from the folder of the script that includes it.",
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
            meaning: "A file includes itself, perhaps by way of another.",
            wrong: #"include "common.scn""#,
            right: #"let greeting = "hello""#),
        .unknownSetting: DiagnosticExplanation(
            meaning: "--set name=value replaces a let of the header, and the script has none of this name.",
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
