import ProbeEvents
import ProbeSystem
import ProbeTransport
import Testing

/// A case with a broken transport must fail, and its finding must name the line of the step that detects the defect.
struct BrokenTransportTests {
    private static let talk = """
        server S
        subject T -> S
        T start
        S accept
        """

    private struct Blame {
        var says: [String]
        var steps: String
    }

    /// Returns the scenario for a defect, and the expected failure.
    private static func blame(_ flaw: Flaw) -> Blame {
        switch flaw {
        case .startedTwice: Blame(says: ["reported started twice"], steps: "T expect nothing for 1s")
        case .lineBeforeStarted:
            Blame(says: ["line \"early\" before it had reported `started`"], steps: "T expect line \"early\"")
        case .neverStarted:
            Blame(says: ["did not report started within 50ms"], steps: "T expect started within 50ms #!")
        case .refusedAfterStarted:
            Blame(says: ["stopped refused after it had reported `started`"], steps: "T expect stopped refused")
        case .lineAfterStop:
            Blame(
                says: ["line \"late\" after it had reported `stopped eof`"],
                steps: "S close\nT expect stopped eof\nwait 60s")
        case .stoppedTwice:
            Blame(
                says: ["stopped eof after it had reported `stopped eof`"],
                steps: "S close\nT expect stopped eof\nwait 60s")
        case .neverStops:
            Blame(
                says: ["did not report stopped eof within 50ms"], steps: "S close\nT expect stopped eof within 50ms #!")
        case .blocksInStart, .blocksInSend:
            Blame(says: ["the transport is blocked"], steps: "T send line \"x\"\nS expect line \"x\"")
        case .refusesSend: Blame(says: ["the error no"], steps: "T send line \"x\" #!\nS expect line \"x\"")
        case .halfLines:
            Blame(says: ["T delivered \"ab\"", "actual: ab"], steps: "S send line \"abcd\"\nT expect line \"abcd\" #!")
        case .keepsTerminator:
            Blame(
                says: ["report lines without their terminators"],
                steps: "S send line \"ab\"\nT expect line \"ab\" #!")
        case .keepsCR: Blame(says: ["remove the CR too"], steps: "S send line \"ab\"\nT expect line \"ab\" #!")
        case .emptyLines:
            Blame(
                says: ["reported line \"\", but no step expected it"],
                steps: "S send line \"ab\"\nT expect line \"ab\"\nwait 300ms")
        case .losesLines:
            Blame(
                says: ["did not report line \"ab\""], steps: "S send line \"ab\"\nT expect line \"ab\" within 50ms #!")
        case .swapsLines:
            Blame(
                says: ["T delivered \"b\"", "actual: b"],
                steps: "S send lines(\"a\", \"b\")\nT expect line \"a\" #!\nT expect line \"b\"")
        case .swallowsLeftover:
            Blame(
                says: ["stopped eof`, expected leftover"],
                steps: "S send \"tw\"\nS close\nT expect leftover \"tw\" #!\nT expect stopped eof")
        case .eofForReset:
            Blame(says: ["treat a reset as an error"], steps: "S reset\nT expect stopped reset #!")
        case .resetForFIN:
            Blame(says: ["reported `stopped reset`, expected `stopped eof`"], steps: "S close\nT expect stopped eof #!")
        case .sendsJoined:
            Blame(
                says: ["S received \"ab\", expected line \"a\"", "actual: ab"],
                steps: "T send line \"a\"\nT send line \"b\"\nS expect line \"a\" #!\nS expect line \"b\"")
        case .sendsTwice:
            Blame(says: ["more than the 3 that it"], steps: "T send line \"a\"\nS expect line \"a\"\nwait 300ms")
        case .sendsLF:
            Blame(says: ["LF instead of CRLF"], steps: "T send line \"a\"\nS expect line \"a\" #!")
        case .sendsNothing:
            Blame(says: ["did not receive line \"a\""], steps: "T send line \"a\"\nS expect line \"a\" within 50ms #!")
        case .sentTooMuch:
            Blame(says: ["more than the 3 that it"], steps: "T send line \"a\"\nS expect line \"a\"")
        case .sentNever:
            Blame(
                says: ["reported only 0 of 3 bytes as sent", "report each send with a `sent` event"],
                steps: "T send line \"a\"\nS expect line \"a\"\nT expect sent within 50ms #!")
        case .stopsOnItsOwn: Blame(says: ["stopped (other)", "no reason"], steps: "S expect \"x\" within 2s")
        case .speaksUnannounced: Blame(says: ["never announced"], steps: "wait 100ms")
        case .stopsWithoutFIN:
            Blame(
                says: ["did not receive eof (FIN)"],
                steps: "T expect started\nT stop\nT expect stopped stopped\nS expect eof within 50ms #!"
            )
        }
    }

    @Test(arguments: Flaw.allCases)
    func flawFailsTheRightStep(_ flaw: Flaw) async throws {
        let blame = Self.blame(flaw)
        // A long timeout costs nothing if a report arrives, and is necessary because the transport's thread may not be
        // scheduled for seconds.
        let timeout = [.blocksInStart, .blocksInSend, .neverStops].contains(flaw) ? "timeout 1s\n" : "timeout 60s\n"
        var script = timeout + Self.talk + "\n" + blame.steps
        let factory = BrokenFactory(flaw: flaw)
        defer { factory.gate.open() }
        var source: any SubjectSource = InProcessSource(factory, names: SubjectNames())
        if flaw == .speaksUnannounced {
            script = "subject T -> 127.0.0.1:1\nT start\n" + blame.steps
            source = StrangeSource(event: SubjectReport(connection: 99, event: .line([65]), time: .now))
        }
        try await Scene("\(flaw)", .failed, says: blame.says, script).verify(subject: source)
    }

    @Test func missingStopIsReportedAtTheEnd() async throws {
        try await Scene(
            "never stops", .failed, says: ["did not report `stopped` within 1s of being asked to stop"],
            "timeout 1s\nserver S\nsubject T -> S\nT start\nS accept within 5s\nT expect started within 5s"
        ).verify(subject: InProcessSource(BrokenFactory(flaw: .neverStops), names: SubjectNames()))
    }

    @Test func secondStopAtTheEndIsReported() async throws {
        for flaw in [Flaw.stoppedTwice, .lineAfterStop] {
            let source = InProcessSource(BrokenFactory(flaw: flaw), names: SubjectNames())
            let text = "scenario \"x\"\nserver S\nsubject T -> S\nT start\nS accept\nT expect started"
            // The transport's thread may be suspended between its two reports for longer than the case waits for
            // reports at its end.
            var finding: Finding?
            for _ in 0..<5 where finding == nil {
                let result = try await Stage.firstResult(text, subject: source)
                if result.verdict == .failed { finding = result.findings.first }
            }
            #expect(finding.map(Scene.texts)?.contains("after it had reported `stopped stopped`") == true, "\(flaw)")
        }
    }

    @Test func brokenAdapterIsAnError() async throws {
        let source = StrangeSource(
            event: SubjectReport(connection: 1, event: .broken(SubjectFailure("no JSON: xyz")), time: .now))
        try await Scene(
            "broken", .error, says: ["no JSON: xyz"], "subject T -> 127.0.0.1:1\nT start\nT expect line \"x\""
        )
        .verify(subject: source)
    }
}
