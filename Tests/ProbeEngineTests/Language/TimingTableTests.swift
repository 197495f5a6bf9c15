import ProbeBase
import ProbeEvents
import ProbeTransport
import Testing

@testable import ProbeScenario

/// `within` and `after` for every expectation and every verb of every kind of actor: each clause that the parser
/// accepts is either judged or rejected by the checker. The test fails if a word in the language's tables has no row
/// here.
struct TimingTableTests {
    /// Two variants of a script, in which `{}` marks the place of the clauses.
    struct Row: Sendable, CustomTestStringConvertible {
        var kind: ActorKind
        var word: String
        /// A script in which the event has happened before the step begins, or happens at once.
        var early: String
        /// A script in which the event happens about 300 ms after the step began; `nil` if the event can't happen that
        /// late.
        var late: String?
        var refuses: Set<String> = []
        /// The deadline of a step whose event must happen. A long deadline costs nothing, and is necessary because a
        /// peer or a program may not be scheduled for seconds.
        var patience = "60s"
        /// Two subjects to use instead of the default: one whose event happens early, and one whose event happens late.
        var securing: (early: SecuringSource, late: SecuringSource)?

        var testDescription: String { "\(kind.rawValue) \(word)" }
    }

    private static let both: Set<String> = ["within", "after"]

    @Test(arguments: rows)
    func lowerBoundIsJudgedOrRefused(_ row: Row) async throws {
        try await verify(row, row.early, "", .passed)
        try await verify(row, row.early, "after 3s", .failed, says: "expected 3s or more")
        if let late = row.late { try await verify(row, late, "within 60s after 20ms", .passed) }
    }

    @Test(arguments: rows)
    func deadlineIsJudgedOrRefused(_ row: Row) async throws {
        try await verify(row, row.early, "within \(row.patience)", .passed)
        if let late = row.late { try await verify(row, late, "within 20ms", .failed) }
    }

    /// The words for which the language's table permits neither `within` nor `after` need no row; `LanguageTableTests`
    /// tests them.
    @Test func everyTimedStepHasARow() {
        for listed in LanguageTable.all where listed.category == .verb || listed.category == .expectation {
            guard let timing = listed.entry.timing, let choice = listed.entry.choice, listed.name != "expect" else {
                continue
            }
            if timing.within.refusal != nil, timing.after.refusal != nil { continue }
            let word = listed.category == .verb ? choice : "expect \(choice)"
            #expect(
                Self.rows.contains { $0.word == word && $0.kind == listed.kind },
                "\(listed.kind?.rawValue ?? "") \(word)")
        }
    }

    private func verify(
        _ row: Row, _ script: String, _ clauses: String, _ verdict: Verdict, says: String? = nil
    ) async throws {
        let header = script.hasPrefix("timeout") ? "" : "timeout 60s\n"
        let text = "scenario \"\(row.word)\"\n" + header + script.replacing("{}", with: clauses)
        let isRefused = row.refuses.contains { clauses.contains($0) }
        let result = ScenarioCompiler.compile(path: "test.scn", bytes: Array(text.utf8), loader: Self.noFile)
        guard !isRefused else {
            #expect(result.diagnostics.map(\.id) == [DiagnosticID.timingNotHere], "\(text)")
            return
        }
        let source: (any SubjectSource)? = script == row.late ? row.securing?.late : row.securing?.early
        let outcome = try await Stage.firstResult(
            text, subject: source ?? Stage.bsd, usesCapture: false, crowdProgram: Self.crowdProgram)
        let texts = outcome.findings.first.map(Scene.texts) ?? ""
        // If the machine or the transport doesn't support the step, the clause can't be tested.
        if outcome.verdict == .skipped || outcome.verdict == .unsupported { return }
        if outcome.verdict == .inconclusive, texts.contains("no capture here") { return }
        #expect(outcome.verdict == verdict, "\(text)\n\(texts)")
        if let says { #expect(texts.contains(says), "\(text)\n\(texts)") }
    }

    private static func noFile(_ file: ScriptFile) throws(LoadError) -> [UInt8] { throw .notFound }

    // MARK: Rows

    private static let rows = received + serversAndClients + subjects + processes + proxies + crowds + verbs

    /// A row for an expectation about a connection, with the step that causes the expected event.
    private static func received(
        _ word: String, _ step: String, _ cause: String, framing: String = "crlf", isSecured: Bool = false
    ) -> Row {
        let tls = isSecured ? " tls" : ""
        let pair = "framing \(framing)\nserver S\(tls)\nclient C -> S\(tls)\nC connect\nS accept\n"
        return Row(
            kind: .connection, word: "expect \(word)", early: pair + "\(cause)\nC expect \(step) {}",
            late: pair + "together {\nC expect \(step) {}\ndo { wait 300ms; \(cause) }\n}")
    }

    private static let received: [Row] =
        [
            received("bytes", "\"x\"", "S send \"x\""),
            received("3 bytes", "3 bytes", "S send \"abc\""),
            received("line", "line \"x\"", "S send line \"x\""),
            received("lines in any order", "lines in any order \"x\"", "S send line \"x\""),
            received("until line", "until line \"x\"", "S send line \"x\""),
            received("until", "until \"\\0\"", "S send \"x\\0\""),
            received("any bytes", "any bytes", "S send \"x\""),
            received("u16 as", "u16 as n", "S send u16(7)"),
            received("message", "message \"x\"", "S send line \"x\"", framing: "u8"),
            received("urgent", "urgent \"!\"", "S send urgent \"!\""),
            received("eof", "eof", "S close"),
            received("reset", "reset", "S reset"),
            received("closed", "closed", "S close"),
            received("notify", "notify", "S send notify", isSecured: true),
            received("truncated", "truncated", "S close without notify", isSecured: true),
            received("alert", "alert unknown-ca", "S send alert fatal unknown-ca", isSecured: true),
            received("ping", "ping \"7\"", "S send ws.ping(\"7\")", framing: "websocket"),
            received("pong", "pong", "S send ws.pong()", framing: "websocket"),
            received("close", "close 1000", "S send ws.close(1000)", framing: "websocket"),
        ] + [
            Row(
                kind: .connection, word: "expect nothing for", early: connected + "C expect nothing for 20ms {}",
                refuses: both),
            Row(
                kind: .connection, word: "expect stalled for",
                early: blocked + "C expect stalled for 100ms {}\nS reset\nC expect reset", refuses: both),
            Row(
                kind: .connection, word: "expect sent",
                early: connected + "C start sending \"x\"\nC expect sent {}\nS expect \"x\"",
                late: connected
                    + "C start sending \"xyz\" at 5B/s\nC expect sent {}\nS expect \"xyz\""),
            Row(
                kind: .connection, word: "expect send failed",
                early: connected + "S reset\nC expect reset\nC start sending \"x\"\nC expect send failed {}",
                late: blocked + "together {\nC expect send failed {}\ndo { wait 300ms; S reset }\n}"),
        ]

    private static let connected = "server S\nclient C -> S\nC connect\nS accept\n"
    private static let blocked =
        "server S with receive-buffer 4KiB\nclient C -> S with send-buffer 4KiB\nC connect\nS accept\nS stop reading\n"
        + "C start sending \"x\" * 4MiB\n"
    /// A server whose accept queue is full: a SYN that arrives in this state is dropped, and is retransmitted a second
    /// later.
    private static let full = "server S backlog 0\nclient F -> S\n"

    private static let serversAndClients = [
        Row(
            kind: .server, word: "expect no connection", early: "server S\nS expect no connection for 20ms {}",
            refuses: both),
        Row(
            kind: .server, word: "accept", early: "server S\nclient C -> S\nC connect\nS accept {}",
            late: "server S\nclient C -> S\ntogether {\nS accept {}\ndo { wait 300ms; C connect }\n}"),
        Row(
            kind: .client, word: "connect", early: "server S\nclient C -> S\nC connect {}\nS accept",
            late: full
                + "client C -> S\nF connect\ntogether {\nC connect {}\ndo { wait 300ms; S accept as A }\n}\nS accept as B"
        ),
        Row(
            kind: .client, word: "connect refused",
            early: "server S\nclient C -> S\nS stop listening\nC connect refused {}"),
        Row(
            kind: .client, word: "connect timeout",
            early: "timeout 100ms\n" + full + "client C -> S\nF connect\nC connect timeout {}\nS accept",
            refuses: ["after"], patience: "200ms"),
    ]

    private static func subject(
        _ word: String, _ step: String, _ cause: String, framing: String = "crlf", rest: String = ""
    ) -> Row {
        let pair = "framing \(framing)\nserver S\nsubject T -> S\nT start\nS accept\nT expect started\n"
        return Row(
            kind: .subject, word: "expect \(word)", early: pair + "do { \(cause) }\nT expect \(step) {}\n\(rest)",
            late: pair + "together {\nT expect \(step) {}\ndo { wait 300ms; \(cause) }\n}\n\(rest)")
    }

    private static let halfClosing =
        "server S\nsubject T -> S with allow-half-close\nT start\nS accept\nT expect started\n"
    private static let discarding =
        "max-line 4\nserver S\nsubject T -> S with discard-too-long\nT start\nS accept\nT expect started\n"
    /// The start of a script with a subject that doesn't restore a lost connection before the script ends.
    private static let losing =
        "server S\nsubject T -> S with reconnect 60s..60s\nT start\nS accept\nT expect started\n"
    private static let coming =
        "server S\nsubject T -> S with reconnect 30ms..1s\nT start\nS accept\nT expect started\n"
    /// Steps in which the subject sends more bytes than the kernel's buffers can hold.
    private static let filling =
        "server S with receive-buffer 4KiB\nsubject T -> S with high-water 4KiB\nT start\nS accept\nS stop reading\n"
        + "for i in 1..8 { T send \"x\" * 1MiB }\n"
    private static let takeAll = "for i in 1..8 { S expect line /x/ }"

    /// A row about a subject's report of a WebSocket control frame.
    private static func control(_ word: String, _ event: SubjectReport.Event) -> Row {
        let step = "framing websocket\nsubject T -> 127.0.0.1:1\nT start\nT expect started\nT expect \(word) {}"
        return Row(
            kind: .subject, word: "expect \(word)", early: step, late: step + "\n# late",
            securing: (
                SecuringSource(script: .init(afterConnect: [.started, event])),
                SecuringSource(script: .init(longAfterConnect: [event], delay: 300))
            ))
    }

    private static let securing = "subject T -> 127.0.0.1:1\nT start\nT start tls ca \"Package.swift\"\n"

    private static let subjects = [
        Row(
            kind: .subject, word: "expect started",
            early: "server S\nsubject T -> S\nT start\nT expect started {}\nS accept",
            late: full
                + "subject T -> S\nF connect\nT start\n"
                + "together {\nT expect started {}\ndo { wait 300ms; S accept as A }\n}\nS accept as B"),
        Row(
            kind: .subject, word: "expect secured", early: securing + "T expect secured {}",
            late: securing + "# late\nT expect secured {}",
            securing: (
                SecuringSource(script: .init(afterStartTLS: [.secured(.tls13, protocol: nil)])),
                SecuringSource(
                    script: .init(afterStartTLS: [.secured(.tls13, protocol: nil)], delay: 300))
            )),
        control("ping", .ping([])), control("pong", .pong([])),
        subject("line", "line \"x\"", "S send line \"x\""),
        subject("message", "message \"x\"", "S send line \"x\"", framing: "u8"),
        subject("bytes", "\"x\"", "S send \"x\"", framing: "none"),
        subject("data", "data \"x\"", "S send \"x\"", framing: "none"),
        subject("leftover", "leftover \"x\"", "S send \"x\"; S close", rest: "T expect stopped eof"),
        subject("stopped", "stopped eof", "S close"),
        Row(
            kind: .subject, word: "expect sent",
            early:
                "server S\nsubject T -> S\nT start\nS accept\nT send line \"x\"\nS expect line \"x\"\nT expect sent {}",
            late: "framing u32\nserver S with receive-buffer 4KiB\nsubject T -> S\nT start\nS accept\nS stop reading\n"
                + "for i in 1..8 { T send \"x\" * 1MiB }\n"
                + "together {\nT expect sent {}\n"
                + "do { wait 300ms; S resume reading; for i in 1..8 { S expect message /x/ } }\n}"),
        Row(
            kind: .subject, word: "expect half-closed",
            early: halfClosing + "S half-close\nT expect half-closed {}\nT stop\nS expect eof",
            late: halfClosing + "\(later("T expect half-closed", "S half-close"))T stop\nS expect eof"),
        Row(
            kind: .subject, word: "expect discarded",
            early: discarding + "S send \"12345\"\nT expect discarded {}",
            late: discarding + later("T expect discarded", "S send \"12345\"")),
        Row(
            kind: .subject, word: "expect full",
            early: filling + "T expect full {}\nT reset\nS ignore rest\nS resume reading\nS expect reset"),
        Row(
            kind: .subject, word: "expect drained",
            early: filling + "T expect full\nS resume reading\n\(takeAll)\nT expect drained {}",
            late: filling + "T expect full\n\(later("T expect drained", "S resume reading; \(takeAll)"))"),
        Row(
            kind: .subject, word: "expect lost",
            early: losing + "S close\nT expect lost {}\nT stop",
            late: losing + "\(later("T expect lost", "S close"))T stop"),
        Row(
            kind: .subject, word: "expect attempt-failed",
            early: coming + "S stop listening\nS close\nT expect lost\nT expect attempt-failed {}\nT stop",
            late:
                "server S\nsubject T -> S with reconnect 300ms..1s\nT start\nT expect started\nS accept\nS stop listening\n"
                + "S close\nT expect lost\nT expect attempt-failed {}\nT stop"),
        Row(
            kind: .subject, word: "expect accept as",
            early: "subject T listens\nclient C -> T\nT start\nC connect\nT expect accept as A {}\nA send line \"x\"\n"
                + "C expect line \"x\"",
            late: "subject T listens\nclient C -> T\nT start\ntogether {\nT expect accept as A {}\n"
                + "do { wait 300ms; C connect }\n}\nA send line \"x\"\nC expect line \"x\""),
        Row(
            kind: .subject, word: "expect error",
            early: "server S\nsubject T -> S\nT start\nS accept\nT start\nT expect error already-started {}",
            refuses: both),
        Row(
            kind: .subject, word: "expect nothing for",
            early: "server S\nsubject T -> S\nT start\nS accept\nT expect nothing for 20ms {}", refuses: both),
        resource("memory <= 1GiB", ["after"]), resource("descriptors <= 1000", ["after"]),
        resource("threads <= 1000", ["after"]), resource("cpu <= 60s", both),
    ]

    /// A row about the resource usage of the subject's adapter. The `bsd` transport has no adapter, so the step is
    /// unsupported there.
    private static func resource(_ step: String, _ refuses: Set<String>) -> Row {
        Row(
            kind: .subject, word: "expect \(step.prefix { $0 != " " })",
            early: "server S\nsubject T -> S\nT start\nS accept\nT expect \(step) {}", refuses: refuses)
    }

    /// Returns a `together` in which `cause`, after 300 ms, causes the event that `step` waits for. The time therefore
    /// doesn't depend on another program's clock.
    private static func later(_ step: String, _ cause: String) -> String {
        "together {\n\(step) {}\ndo { wait 300ms; \(cause) }\n}\n"
    }

    private static func program(_ word: String, _ step: String, _ shell: String, refuses: Set<String> = []) -> Row {
        let late = "process P = sh -c 'read x; \(shell)'\nP start\n\(later("P expect \(step)", "P send \"\\n\""))P stop"
        return Row(
            kind: .process, word: "expect \(word)",
            early: "process P = sh -c '\(shell)'\nP start\nP expect \(step) {}\nP stop",
            late: refuses.isEmpty ? late : nil, refuses: refuses)
    }

    private static let processes = [
        Row(
            kind: .process, word: "expect listening",
            early: "require command python3\nprocess P = python3 -m http.server ${P.port} --bind 127.0.0.1\nP start\n"
                + "P expect listening\nP expect listening {}\nP stop",
            late: "require command python3\nprocess P = sh -c \"read x; exec python3 -m http.server ${P.port}\"\n"
                + "P start\n\(later("P expect listening", "P send \"\\n\""))P stop"),
        program("output", "output /x/", "echo x; sleep 60"),
        program("no output", "no output /y/ for 20ms", "echo x; sleep 60", refuses: both),
        Row(
            kind: .process, word: "expect exit", early: "process P = sh -c 'exit 3'\nP start\nP expect exit 3 {}",
            late: "process P = sh -c 'read x; exit 3'\nP start\n\(later("P expect exit 3", "P send \"\\n\""))"),
        program("memory", "memory <= 1GiB", "sleep 60", refuses: ["after"]),
        program("descriptors", "descriptors <= 1000", "sleep 60", refuses: ["after"]),
        program("threads", "threads <= 1000", "sleep 60", refuses: ["after"]),
        program("cpu", "cpu <= 60s", "sleep 60", refuses: both),
    ]

    private static func verb(_ kind: ActorKind, _ word: String, _ script: String, _ refuses: Set<String> = both) -> Row
    {
        Row(kind: kind, word: word, early: script, refuses: refuses)
    }

    private static let verbs = [
        verb(.server, "listen", "server S\nclient C -> S\nS stop listening\nS listen {}\nC connect\nS accept"),
        verb(.server, "stop listening", "server S\nclient C -> S\nS stop listening {}\nC connect refused"),
        verb(.connection, "send", connected + "C send \"x\" {}\nS expect \"x\""),
        verb(.connection, "start sending", connected + "C start sending \"x\" {}\nS expect \"x\""),
        verb(.connection, "close", connected + "C close {}\nS expect eof"),
        verb(.connection, "half-close", connected + "C half-close {}\nS expect eof"),
        verb(.connection, "reset", connected + "C reset {}\nS expect reset"),
        verb(.connection, "stop reading", connected + "C stop reading {}\nC expect nothing for 1ms"),
        verb(.connection, "resume reading", connected + "C resume reading {}\nC expect nothing for 1ms"),
        verb(.connection, "read … every", connected + "C read 1B every 1ms {}\nC expect nothing for 1ms"),
        verb(.connection, "set", connected + "C set nodelay off {}\nC expect nothing for 1ms"),
        verb(.connection, "framing", connected + "C framing lf {}\nC expect nothing for 1ms"),
        verb(.connection, "ignore rest", connected + "C ignore rest {}\nC expect nothing for 1ms"),
        Row(
            kind: .connection, word: "start tls", early: connected + "together {\nC start tls {}\nS start tls\n}",
            late: connected + "together {\nC start tls {}\ndo { wait 300ms; S start tls }\n}"),
        verb(.subject, "start", "server S\nsubject T -> S\nT start {}\nS accept"),
        verb(.subject, "send", linked + "T send line \"x\" {}\nS expect line \"x\""),
        verb(.subject, "half-close", linked + "T half-close {}\nS expect eof"),
        verb(.subject, "stop reading", linked + "T stop reading {}\nT expect nothing for 1ms"),
        verb(.subject, "resume reading", linked + "T resume reading {}\nT expect nothing for 1ms"),
        verb(.subject, "stop", linked + "T stop {}\nS expect eof"),
        verb(.process, "start", "process P = sleep 60\nP start {}\nP expect memory <= 1GiB\nP stop"),
        verb(.process, "send", "process P = cat\nP start\nP send \"x\\n\" {}\nP expect output /x/\nP stop"),
        verb(.process, "signal", "process P = sleep 60\nP start\nP signal KILL {}\nP expect exit signal KILL"),
        verb(.process, "stop", "process P = sleep 60\nP start\nP expect memory <= 1GiB\nP stop {}"),
        // For `read`, `within` is the timeout of the read itself. The transport used here doesn't support reads.
        Row(
            kind: .subject, word: "read",
            early: "require subject reads\n" + linked + "T read any bytes {}\nS send \"x\"\nT expect data \"x\"",
            refuses: ["after"]),
    ]

    private static let linked = "server S\nsubject T -> S\nT start\nS accept\n"
}
