import ProbeEvents
import ProbeReport
import ProbeScenario

/// Sample results in the form in which the engine creates them, one of each kind that users encounter.
enum Samples {
    static let script = #"""
        # A reply cut inside its CRLF is still one line.
        scenario "a reply that is cut inside its CRLF"

        server  S
        subject T -> S

        T start
        S accept
        S send "220 rea" | "dy\r" | "\n"  every 30ms
        T expect line "220 ready"
        T expect stopped eof
        """#

    static let sources = SourceMap([SourceFile(path: "Scenarios/crlf.scn", bytes: Array(script.utf8))])

    /// Returns the range of a text within the script.
    static func span(_ text: String) -> SourceSpan {
        let bytes = Array(script.utf8)
        let wanted = Array(text.utf8)
        let start = bytes.indices.first { bytes[$0...].starts(with: wanted) } ?? 0
        return SourceSpan(start: start, end: start + wanted.count)
    }

    static func result(
        _ verdict: Verdict, id: String = "crlf", findings: [Finding] = [], timeline: [TimelineEntry] = []
    ) -> CaseResult {
        CaseResult(
            id: id, path: "Scenarios/crlf.scn", sources: sources, title: "a reply that is cut inside its CRLF",
            about: nil, because: [],
            level: .must, tags: [], subject: "bsd", verdict: verdict, findings: findings, timeline: timeline,
            duration: 35_120_000, capturePath: verdict == .skipped ? nil : "tcpprobe-out/\(id).pcapng",
            rerun: "tcpprobe run Scenarios/crlf.scn")
    }

    static let passed = result(.passed)

    static var failedBytes: CaseResult {
        let line = span("T expect line \"220 ready\"")
        var result = result(
            .failed,
            findings: [
                Finding(
                    .failed, at: span("expect line \"220 ready\""),
                    "T expected the line \"220 ready\"; another one came",
                    expected: Array("220 ready".utf8), actual: Array("220 read\u{1b}[31m".utf8),
                    details: ["it came 61.2 ms after the step began"], hints: ["LF instead of CRLF"],
                    actors: [
                        ActorState(name: "S", state: "connected, unread: \"QUIT\""),
                        ActorState(name: "T", state: "waited for a line"),
                    ])
            ],
            timeline: [
                TimelineEntry(time: 112_000, kind: .step(span("T start"), "T start")),
                TimelineEntry(time: 250_000, kind: .packet(TimelinePacket("T -> S  S   seq 0 win 65495 len 0"))),
                TimelineEntry(time: 400_000, kind: .event(actor: "T", "started")),
                TimelineEntry(time: 1_500_000, kind: .step(span("S accept"), "S accept")),
                TimelineEntry(
                    time: 61_000_000,
                    kind: .packet(TimelinePacket("S -> T  P.  seq 1 ack 1 win 65536 len 7 \"220 rea\""))),
                TimelineEntry(time: 62_700_000, kind: .step(line, "T expect line \"220 ready\"")),
                TimelineEntry(time: 62_712_345, kind: .stepFailed(line)),
            ])
        result.about = "Clients that look for a bare LF pass every other test."
        result.because = ["example/project#12"]
        return result
    }

    static var subjectStopped: CaseResult {
        result(
            .failed,
            findings: [
                Finding(
                    .failed, at: span("S accept"), "T stopped (refused), which no later step expects",
                    details: ["it said: connection refused"],
                    hints: ["`T expect stopped refused` says that this is meant"],
                    actors: [
                        ActorState(name: "S", state: "waited for a connection"),
                        ActorState(name: "T", state: "stopped (refused)"),
                    ])
            ],
            timeline: [
                TimelineEntry(time: 90_000, kind: .step(span("T start"), "T start")),
                TimelineEntry(time: 300_000, kind: .event(actor: "T", "stopped refused")),
                TimelineEntry(time: 301_000, kind: .stepFailed(span("S accept"))),
            ])
    }

    static var processDied: CaseResult {
        result(
            .failed, id: "redis[n=3]",
            findings: [
                Finding(
                    .failed, at: span("S accept"), "redis died by SIGSEGV (core dumped)",
                    details: [
                        "the last lines that it printed:", "  1:M 21 Nov 22:10:00.001 * Ready to accept connections",
                        "  === REDIS BUG REPORT START ===",
                    ],
                    actors: [
                        ActorState(name: "redis", state: "ended: signal SEGV"),
                        ActorState(name: "C", state: "connected"),
                    ]
                )
            ],
            timeline: [
                TimelineEntry(
                    time: 2_000_000,
                    kind: .output(actor: "redis", isError: false, Array("ready \u{7}\u{1b}]0;title\u{7}".utf8))),
                TimelineEntry(time: 3_000_000, kind: .output(actor: "redis", isError: true, [0xff, 0xfe, 0x41])),
                TimelineEntry(time: 3_100_000, kind: .event(actor: "redis", "ended: signal SEGV")),
                TimelineEntry(time: 3_200_000, kind: .stepFailed(span("S accept"))),
            ])
    }

    static var error: CaseResult {
        result(
            .error,
            findings: [
                Finding(
                    .error, at: span("server  S"), "S can't listen on 127.0.0.1:6379: address in use",
                    hints: ["without `on` it takes a free port"])
            ])
    }

    static var inconclusive: CaseResult {
        result(
            .inconclusive,
            findings: [
                Finding(
                    .inconclusive, at: span("S send \"220 rea\" | \"dy\\r\" | \"\\n\"  every 30ms"),
                    "S's pieces were not sent in separate segments",
                    details: ["pieces 2 to 3 were sent in one segment: \"dy\\r\\n\""]),
                Finding(.inconclusive, "the capture dropped 12 packets"),
            ])
    }

    static var skipped: CaseResult {
        result(.skipped, findings: [Finding(.skipped, "the command redis-server is not installed")])
    }

    static var unsupported: CaseResult {
        result(.unsupported, findings: [Finding(.unsupported, "T can't: half-close")])
    }

    static var should: CaseResult {
        var result = subjectStopped
        result.level = .should
        return result
    }

    static let all: [(name: String, result: CaseResult)] = [
        ("passed", passed), ("failed-bytes", failedBytes), ("subject-stopped", subjectStopped),
        ("process-died", processDied), ("error", error), ("inconclusive", inconclusive), ("skipped", skipped),
        ("unsupported", unsupported), ("should", should),
    ]

    /// The events of a run of all samples, which is interrupted before the last two cases.
    static var events: [RunEvent] {
        var events: [RunEvent] = [.started(caseCount: all.count + 2), .message("no capture: permission denied")]
        for (_, result) in all { events += [.caseStarted(id: result.id), .caseEnded(result)] }
        return events + [.ended(interrupted)]
    }

    static let planned = [
        PlannedCase(id: "later[x=1]", path: "Scenarios/later.scn", subject: "bsd"),
        PlannedCase(id: "later[x=2]", path: "Scenarios/later.scn", subject: "bsd"),
    ]

    static var interrupted: RunSummary {
        var tally = RunTally(planned: planned, rules: RunRules())
        for (_, result) in all { tally.count(result) }
        var summary = RunSummary()
        (summary.interruptedBy, summary.duration) = (2, 4_200_000_000)
        return tally.complete(summary)
    }
}

extension Recorder {
    /// Returns the document for a run whose events are one millisecond apart.
    func written(_ events: [RunEvent]) -> String {
        var recorder = self
        var bytes: [UInt8] = []
        for (index, event) in events.enumerated() { bytes += recorder.record(event, at: Int64(index) * 1_000_000) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ReportOptions {
    static func sample(strict: Bool = false, severalSubjects: Bool = false) -> ReportOptions {
        var options = ReportOptions()
        options.strict = strict
        options.hasSeveralSubjects = severalSubjects
        options.version = "0.1.0"
        options.startedAt = 1_795_300_200
        return options
    }
}
