import Foundation
import ProbeEvents
import ProbeReport
import Synchronization
import Testing

@Suite struct RecorderSetTests {
    final class Sink: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        func write(_ more: [UInt8]) { bytes.withLock { $0 += more } }
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }

    private struct Broken: Error, CustomStringConvertible {
        var description: String { "the report x can't be written: No space left on device" }
    }

    private static let planned = [
        PlannedCase(id: "crlf", path: "Scenarios/crlf.scn", subject: "bsd"), Samples.planned[0], Samples.planned[1],
    ]

    @Test func everyRecorderReceivesEveryEvent() {
        let (tap, json) = (Sink(), Sink())
        var set = RecorderSet(planned: Samples.planned, rules: RunRules())
        set.attach(TAPRecorder(options: .sample())) { tap.write($0) }
        set.attach(JSONRecorder(options: .sample())) { json.write($0) }
        for event in Samples.events { set.record(event, at: 0) }
        #expect(tap.text == TAPRecorder(options: .sample()).written(Samples.events))
        #expect(json.text.split(separator: "\n").count == Samples.events.count + 2)
    }

    @Test func unrunCasesAreNamed() {
        let sink = Sink()
        var set = RecorderSet(planned: Self.planned, rules: RunRules())
        set.attach(ConsoleRecorder(style: .init(usesColor: false))) { sink.write($0) }
        set.record(.started(caseCount: 3), at: 0)
        set.record(.caseEnded(Samples.passed), at: 1)
        var summary = RunSummary()
        summary.interruptedBy = 15
        set.record(.ended(summary), at: 2)
        #expect(set.summary?.notRunCases == Samples.planned)
        #expect(
            sink.text == """
                passed       crlf  35 ms
                not run:
                  later[x=1]
                  later[x=2]
                1 passed, 0 failed, 2 not run in 0 ms (interrupted by SIGTERM)

                """)
    }

    /// When the run is aborted, some cases have ended, and one case is running for two subjects and in two rounds.
    @Test func runningCasesAreErrorsAfterAnAbort() throws {
        let json = Sink()
        let planned = ["a", "b", "c"].flatMap { id in
            ["bsd", "nio"].map { PlannedCase(id: id, path: "\(id).scn", subject: $0, rerun: "again") }
        }
        var set = RecorderSet(planned: planned, rules: RunRules())
        set.attach(JSONRecorder(options: .sample())) { json.write($0) }
        for (id, subject) in [("a", "bsd"), ("a", "nio"), ("b", "bsd"), ("b", "bsd"), ("b", "nio")] {
            set.record(.caseStarted(id: id, subject: subject), at: 1)
        }
        var ended = Samples.passed
        (ended.id, ended.subject) = ("a", "bsd")
        set.record(.caseEnded(ended), at: 2)
        (ended.id, ended.subject) = ("b", "bsd")
        set.record(.caseEnded(ended), at: 2)
        set.abort(signal: 2, at: 5)
        let summary = try #require(set.summary)
        #expect((summary.results.count(.passed), summary.results.count(.error), summary.results.total) == (2, 3, 5))
        #expect(summary.notRunCases.map(\.key) == [CaseKey(id: "c", subject: "bsd"), CaseKey(id: "c", subject: "nio")])
        #expect(json.text.split(separator: "\n").count { $0.contains("the run was interrupted") } == 3)
    }

    /// Cases that were not run are counted once for each round of a repeated run, however the run ends.
    @Test(arguments: [false, true]) func unrunCasesCountInEachRound(isAborted: Bool) {
        var set = RecorderSet(planned: Samples.planned, rules: RunRules())
        set.record(.started(caseCount: 6), at: 0)
        var summary = RunSummary()
        summary.interruptedBy = 2
        if isAborted { set.abort(signal: 2, at: 1) } else { set.record(.ended(summary), at: 1) }
        #expect(set.summary?.notRun == 6)
        #expect(set.summary?.notRunCases == Samples.planned)
    }

    @Test func abortCompletesEveryDocument() throws {
        let (tap, xml) = (Sink(), Sink())
        var set = RecorderSet(planned: Self.planned, rules: RunRules())
        set.attach(TAPRecorder(options: .sample())) { tap.write($0) }
        set.attach(JUnitRecorder(options: .sample())) { xml.write($0) }
        set.record(.started(caseCount: 3), at: 0)
        set.record(.caseEnded(Samples.failedBytes), at: 1)
        set.record(.caseStarted(id: "later[x=1]", subject: Samples.planned[0].subject), at: 2)
        set.abort(signal: 2, at: 3)
        let document = try TAPDocument(tap.text)
        // The case that was running when the run was aborted is reported as an error, as it is after an interruption.
        #expect(document.points.map(\.description) == ["crlf", "later[x=1]", "later[x=2]"])
        #expect(document.points.map(\.isOK) == [false, false, true])
        #expect(document.points[1].diagnostic.contains { $0.contains("the run was interrupted") })
        #expect(document.bailOut == "interrupted by SIGINT; cases not run: 1")
        #expect(set.summary?.results.count(.error) == 1 && set.summary?.notRun == 1)
        #expect(xml.text.hasSuffix("</testsuites>\n"))
        #expect(set.summary?.exitCode == 130)
        // A result that arrives after the end of the run is not added to any document.
        let before = tap.text
        set.record(.caseEnded(Samples.passed), at: 4)
        set.abort(signal: 15, at: 5)
        #expect(tap.text == before)
        #expect(set.summary?.exitCode == 130)
    }

    @Test func writeErrorsAreReportedAndCount() {
        let console = Sink()
        let failures = Mutex(0)
        var set = RecorderSet(planned: [], rules: RunRules())
        set.attach(ConsoleRecorder(style: .init(usesColor: false))) { console.write($0) }
        set.attach(JSONRecorder(options: .sample())) { _ in
            failures.withLock { $0 += 1 }
            throw Broken()
        }
        for event: RunEvent in [.started(caseCount: 1), .caseEnded(Samples.passed), .ended(RunSummary())] {
            set.record(event, at: 0)
        }
        #expect(failures.withLock { $0 } == 1)
        #expect(console.text.contains("error: the report x can't be written: No space left on device\n1 passed"))
        #expect(set.summary?.exitCode == 3)
    }

    @Test func filesAreInPlaceBeforeTheConsoleEnds() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tcpprobe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // If the removal fails, the test's folder remains in the system's temporary folder, which is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "run.tap").path()
        let existed = Mutex([Bool]())
        var set = RecorderSet(planned: [], rules: RunRules())
        set.attach(ConsoleRecorder(style: .init(usesColor: false))) { _ in
            existed.withLock { $0.append(FileManager.default.fileExists(atPath: path)) }
        }
        set.attach(TAPRecorder(options: .sample()), to: try ReportFile(path))
        for event in Samples.events { set.record(event, at: 0) }
        #expect(existed.withLock { $0.last } == true && existed.withLock { $0.first } == false)
        _ = try TAPDocument(String(contentsOfFile: path, encoding: .utf8))
    }
}
