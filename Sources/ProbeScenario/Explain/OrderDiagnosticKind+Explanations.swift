extension OrderDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
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
                """#
        ),
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
                """#
        ),
        .alreadyConnected: DiagnosticExplanation(
            meaning: "The actor has a connection that is still open. One name means one connection.",
            wrong: "C connect",
            right: #"""
                C close
                C connect
                """#
        ),
        .secondAccept: DiagnosticExplanation(
            meaning: "After plain accept the server's name means that connection. A second one needs a name of its "
                + "own.",
            wrong: "S accept",
            right: #"""
                C close
                C connect
                S accept as A
                """#
        ),
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
                """#
        ),
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
                """#
        ),
        .bufferTooLate: DiagnosticExplanation(
            meaning: "The size of a buffer bounds the window only when it is set before the connection is up.",
            wrong: "C set receive-buffer 4KiB",
            right: #"""
                scenario "example"
                server S
                client C -> S with receive-buffer 4KiB
                C connect
                S accept
                """#
        ),
        .timingNotHere: DiagnosticExplanation(
            meaning: "within and after are for steps that wait for a peer: accept, connect, expect, and wire (within "
                + "only).",
            wrong: "C close within 1s",
            right: "C expect eof within 1s"
        ),
        .eitherStart: DiagnosticExplanation(
            meaning: "A branch of either is chosen by its first step: the first whose expect or accept is met is "
                + "taken. So each branch starts with one.",
            wrong: #"either { S send "a" } or { C expect "b" }"#,
            right: #"either { C expect "a" } or { C expect "b" }"#
        ),
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
                """#
        ),
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
                """#
        ),
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
                """#
        ),
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
                """#
        ),
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
                """#
        ),
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
                """#
        ),
    ]
}
