import ProbeBase
import ProbeEvents
import ProbeScenario

@testable import ProbeReport

/// Fuzzes results files. The fuzzer is compiled with ProbeBase, ProbeWire, ProbeScenario, ProbeEvents and the files of
/// ProbeReport that read and write results.
///
/// If the first byte is a brace, the input is a results file. Otherwise, the input is a series of changes to a file
/// that contains every member; each change is an offset, a length and the bytes to insert. It must be possible to read
/// each result of a file that was accepted, and the result must be the same after it has been written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResults(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    read(first == UInt8(ascii: "{") ? input : changed(Array(input.dropFirst())))
    return 0
}

private func changed(_ input: [UInt8]) -> [UInt8] {
    var bytes = sample
    var position = 0
    func next() -> Int {
        defer { position += 1 }
        return position < input.count ? Int(input[position]) : 0
    }
    while position < input.count {
        let place = (next() << 8 | next()) % (bytes.count + 1)
        let end = min(bytes.count, place + next() % 32)
        let length = next() % 32
        let new = input[min(position, input.count)..<min(position + length, input.count)]
        position += length
        bytes.replaceSubrange(place..<end, with: new)
    }
    return bytes
}

private func read(_ bytes: [UInt8]) {
    do throws(ResultsProblem) {
        let file = try ResultsFile(path: "fuzz.json", bytes: bytes)
        for entry in file.entries {
            let result = try file.result(entry)
            let members = ResultsEncoding.members(of: result, place: 1, sources: 0, expectation: nil)
            let text = JSONValue.object(members).encoded()
            let again = try ResultsDecoding.result(
                ResultsFields(parsed(text)), file.planned[entry.item].item, sources: result.sources)
            let same = ResultsEncoding.members(of: again, place: 1, sources: 0, expectation: nil)
            if JSONValue.object(same).encoded() != text { fatalError("a result changed when it was written again") }
        }
    } catch {
        if error.description.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            fatalError("a problem contains terminal control characters")
        }
    }
}

private func parsed(_ text: [UInt8]) -> JSONValue {
    do throws(JSONError) {
        return try JSONParser.parse(text.span)
    } catch {
        fatalError("the written file can't be read: \(error.text)")
    }
}

/// A results file in which every member has a value.
private let sample: [UInt8] = {
    let source = SourceFile(path: "a.scn", bytes: Array("scenario \"a\"\n".utf8))
    let span = SourceSpan(file: 0, start: 0, end: 8)
    var finding = Finding(
        .failed, at: span, "what was expected", expected: [0, 65, 255], actual: [], details: ["one"], hints: ["a hint"],
        actors: [ActorState(name: "S", state: "waits")])
    finding.rounds = [LoopRound(number: 3, values: [NamedText(name: "i", text: "301")])]
    finding.unexpectedEnd = .signal(11)
    let segment = TimelinePacket.Segment(
        from: "S", to: "T", flags: "P.", sequence: 1, acknowledgment: 7, window: 65536, payloadLength: 3,
        payload: [0, 0x80, 0xff], marks: ["zero window"])
    var result = CaseResult(
        id: "a", path: "a.scn", sources: SourceMap([source]), title: "a", about: "about", because: ["b"],
        level: .should,
        tags: ["t"], subject: "bsd", verdict: .failed, findings: [finding],
        timeline: [
            TimelineEntry(time: -5, kind: .step(span, "T start", values: [])),
            TimelineEntry(time: 2, kind: .packet(TimelinePacket("S -> T", segment: segment, faults: ["dropped"]))),
            TimelineEntry(time: 4, kind: .output(actor: "P", isError: true, [0x1b, 0xff])),
            TimelineEntry(time: 5, kind: .event(actor: "T", "started")), TimelineEntry(time: 6, kind: .note("n")),
        ], duration: 12_345, capturePath: "out/a.pcapng", rerun: "tcpprobe run x")
    var latency = CrowdResult.Latency(wait: "line", count: 10, failed: 1, percentiles: [("p50", 20), ("max", nil)])
    latency.buckets = [(10, 4), (20, 3)]
    var crowd = CrowdResult(
        name: "W", members: 10, counts: [("began", 10)], failures: ["1 member failed"], latencies: [latency])
    crowd.samples = [CrowdResult.Sample(time: 5, connected: 1, done: 0, failed: 0, sent: 50, received: 1)]
    result.crowds = [crowd]
    result.alone = LoneResult(verdict: .passed, after: "other")
    let planned = PlannedCase(
        id: result.id, path: result.path, subject: result.subject, title: result.title, about: result.about,
        because: result.because, level: result.level, tags: result.tags, rerun: result.rerun)
    var recorder = ResultsRecorder(
        head: ResultsHead(planHash: "0123456789abcdef", planCases: 1, places: [1]), planned: [planned],
        rules: RunRules())
    let events: [RunEvent] = [.started(caseCount: 1), .message("m"), .caseEnded(result), .ended(RunSummary())]
    return events.flatMap { recorder.record($0, at: 0) }
}()
