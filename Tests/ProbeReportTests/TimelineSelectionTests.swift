import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Tests which entries of a long timeline a report shows.
@Suite struct TimelineSelectionTests {
    private static func span(_ line: Int) -> SourceSpan { SourceSpan(start: line * 10, end: line * 10 + 5) }

    private static func step(_ line: Int, _ round: Int = 0) -> TimelineEntry.Kind {
        .step(span(line), "step \(line)", values: round > 0 ? [NamedText(name: "i", text: "\(round)")] : [])
    }

    private static func lines(_ kinds: [TimelineEntry.Kind], limit: Int) -> [TimelineSelection.Line] {
        let entries = kinds.enumerated().map { TimelineEntry(time: Int64($0.offset), kind: $0.element) }
        return TimelineSelection(entries).lines(limit: limit)
    }

    private static func shown(_ lines: [TimelineSelection.Line]) -> Set<Int> {
        Set(lines.compactMap { if case .entry(let index) = $0 { index } else { nil } })
    }

    @Test func shortTimelineIsShownWhole() {
        let lines = Self.lines([Self.step(1), .note("a"), Self.step(2), .stepFailed(Self.span(2))], limit: 60)
        #expect(lines == [.entry(0), .entry(1), .entry(2), .entry(3)])
    }

    @Test func repeatedStepsAreFoldedEvenIfTheyFit() {
        let lines = Self.lines((1...10).map { Self.step(1, $0) } + [Self.step(2)], limit: 60)
        #expect(lines == [.entry(0), .omitted(count: 8, isRepetition: true, isOneKind: true), .entry(9), .entry(10)])
    }

    /// The timeline contains two loops of a thousand rounds each: one loop before the decisive events, and one loop
    /// after them.
    @Test(arguments: [20, 40, 60, 200])
    func decisiveEntriesAreKept(limit: Int) {
        var kinds: [TimelineEntry.Kind] = [
            Self.step(1), .packet(TimelinePacket("T -> S  S   seq 0")),
            .packet(TimelinePacket("S -> T  S.  seq 0 ack 1")),
            .event(actor: "T", "started"),
        ]
        for round in 1...1000 {
            kinds += [
                Self.step(2, round), .packet(TimelinePacket("S -> T  P.  seq \(round)")),
                .packet(TimelinePacket("T -> S  .   seq 1")),
                .event(actor: "T", "line \"\(round)\""), Self.step(3, round),
            ]
        }
        let decisive = kinds.count
        kinds += [.packet(TimelinePacket("S -> T  R.  seq 1001")), .event(actor: "T", "stopped reset")]
        for round in 1...1000 { kinds += [Self.step(4, round), .note("note"), Self.step(5, round)] }
        kinds += [Self.step(6, 1), .stepFailed(Self.span(6))]
        let lines = Self.lines(kinds, limit: limit)
        let shown = Self.shown(lines)
        #expect(shown.isSuperset(of: [1, 2, 3, decisive, decisive + 1]))
        #expect(shown.isSuperset(of: (kinds.count - 5)..<kinds.count))
        #expect(lines.count <= limit)
        let counted = lines.reduce(0) { sum, line in
            switch line {
            case .entry: sum + 1
            case .omitted(let count, _, _): sum + count
            }
        }
        #expect(counted == kinds.count)
    }

    /// The decisive entries of several actors are in the middle of the timeline, with thousands of entries before and
    /// after them.
    @Test func lastEntriesOfEachActorAreKept() {
        let noise = (1...2000).map { Self.step($0 % 90 + 1, $0) }
        var kinds = noise
        var decisive: [Int] = []
        for actor in ["T", "U", "V"] {
            func add(_ kind: TimelineEntry.Kind, isDecisive: Bool = true) {
                if isDecisive { decisive.append(kinds.count) }
                kinds.append(kind)
                kinds += noise.prefix(50)
            }
            add(.packet(TimelinePacket("\(actor) -> S  S   seq 0")))
            add(.event(actor: actor, "started"))
            for round in 1...20 {
                add(.packet(TimelinePacket("\(actor) -> S  P.  seq \(round)")), isDecisive: false)
                add(.event(actor: actor, "line \"\(round)\""), isDecisive: false)
            }
            add(.packet(TimelinePacket("\(actor) -> S  F.  seq 21")))
            add(.packet(TimelinePacket("\(actor) -> S  .   seq 22")))
            add(.event(actor: actor, "stopped eof"))
            add(.output(actor: "P\(actor)", isError: false, [97]))
        }
        kinds += noise + [Self.step(95), .stepFailed(Self.span(95))]
        for limit in [40, 60, 200] {
            let lines = Self.lines(kinds, limit: limit)
            #expect(Self.shown(lines).isSuperset(of: decisive), "\(limit)")
            #expect(lines.count <= max(limit, 2 * (decisive.count + 10)))
        }
    }

    @Test func repetitionsAreDistinguishedFromOtherLines() {
        var kinds: [TimelineEntry.Kind] = []
        for round in 1...100 { kinds += [Self.step(1, round), .event(actor: "T", "line \(round)")] }
        kinds.append(.stepFailed(Self.span(1)))
        let lines = Self.lines(kinds, limit: 20)
        #expect(lines.contains { if case .omitted(_, true, false) = $0 { true } else { false } })
        #expect(!lines.contains { if case .omitted(_, false, _) = $0 { true } else { false } })
    }

    /// There are three timelines: one with thousands of landmarks, one without entries, and one with a single entry.
    @Test func limitHoldsForAnyTimeline() {
        let kinds = (0..<3000).map { TimelineEntry.Kind.packet(TimelinePacket("127.0.0.1:\($0) -> S  R   seq 0")) }
        #expect(Self.lines(kinds, limit: 40).count <= 50)
        #expect(Self.lines([], limit: 40).isEmpty)
        #expect(Self.lines([.note("a")], limit: 1) == [.entry(0)])
    }

    @Test func valuesFollowTheStep() {
        let line = Samples.span("T expect line \"220 ready\"")
        let result = Samples.result(
            .failed, findings: [Finding(.failed, "x")],
            timeline: [
                TimelineEntry(
                    time: 0,
                    kind: .step(line, "T expect line \"220 ready\"", values: [NamedText(name: "i", text: "301")]))
            ])
        #expect(
            TimelineText(result: result, paint: .plain, limit: 60).text
                .hasSuffix("step    crlf.scn:10  T expect line \"220 ready\"  (i = 301)\n"))
    }

    /// The report of a case has at most sixty lines, regardless of its findings and its timeline.
    @Test func reportOfACaseHasAtMostSixtyLines() {
        let actors = (0..<40).map { ActorState(name: "A\($0)", state: "connected") }
        let finding = Finding(
            .failed, at: Samples.span("S accept"), "something", expected: [1], actual: [2],
            details: (0..<40).map { "detail \($0)" }, hints: (0..<40).map { "hint \($0)" }, actors: actors)
        let kinds = (0..<9000).map { Self.step($0 % 3, $0) }
        let result = Samples.result(
            .failed, findings: Array(repeating: finding, count: 9),
            timeline: kinds.enumerated().map { TimelineEntry(time: Int64($0.offset), kind: $0.element) })
        let text = CaseText(options: .sample()).failureDetail(result)
        let count = text.utf8.count { $0 == 10 }
        #expect(count <= 57)
        #expect(text.contains("run again"))
    }
}
