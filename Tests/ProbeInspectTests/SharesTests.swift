import ProbeBase
import Glibc
import ProbeEvents
import ProbeInspect
import ProbeScenario
import ProbeWire
import Testing

/// Tests that two threads, each with a share of the connections, give the same result as a single thread.
@Suite struct SharesTests {
    private static let statements = """
        wire client -> server lines crlf
        wire server -> client lines crlf
        wire server -> client longest line < 90B
        wire no retransmission
        wire client -> server segments 3
        wire closed by client first
        """

    /// Returns everything that `inspect` can print about a file, read without an observer.
    private func inspected(
        _ path: String, workers: Int, limits: ConversationLimits = .counting, isJudged: Bool = true
    ) throws -> String {
        let inspection = Inspection.of(try CaptureSource(path: path), limits: limits, workers: workers)
        let collected = Collected()
        ConnectionTableText.write(inspection.analysis.table.conversations, inspection.anomalies, to: collected.output)
        for report in inspection.reports(ConnectionFilter()) { collected.output(InspectJSON.flow(report, file: "f")) }
        collected.output(ConnectionTableText.summary(inspection, shown: 0) + InspectJSON.summary(inspection, file: "f"))
        collected.output("\(inspection.problem.map { "\($0)" } ?? "whole") \(inspection.interfaces)")
        collected.output("\(inspection.analysis.firstError.map { "\($0)" } ?? "all decoded")")
        guard isJudged else { return collected.text }
        let list = try WireCheck.parse(path: "c", bytes: Array(Self.statements.utf8), framing: .crlf) {
            (_) throws(LoadError) in throw .notFound
        }.get()
        let judged = Inspection.of(
            try CaptureSource(path: path), limits: .judging(list.checks.map(\.assertion)), workers: workers)
        let word = { @Sendable (outcome: CheckRun.Outcome, text: inout [UInt8]) in
            text.append(text: outcome.verdict.rawValue)
            CheckText.append(outcome, to: &text)
        }
        let outcomes = CheckRun(list.checks, on: judged, filter: ConnectionFilter()).outcomes
        // Judging on two threads produces the same text as judging on one, whether or not passed statements are
        // included.
        for wordsPassed in [true, false] {
            var wording: [UInt8] = []
            let tally = CheckRun.judge(
                list.checks, on: judged, filter: ConnectionFilter(), wordsPassed: wordsPassed, word: word,
                to: { wording += $0 })
            var expected: [UInt8] = []
            for outcome in outcomes where wordsPassed || outcome.verdict != .passed { word(outcome, &expected) }
            #expect(wording == expected)
            for verdict in Verdict.allCases {
                #expect(tally[verdict] == outcomes.count { $0.verdict == verdict })
            }
        }
        // Judging a flow in place gives the same result as judging a copy.
        let conversations = judged.analysis.table.conversations
        for check in list.checks {
            for (position, conversation) in conversations.enumerated() {
                let short = conversations.judge(check.assertion, at: position, names: .plain)
                #expect(String(reflecting: short) == String(reflecting: conversation.judge(check.assertion)))
            }
        }
        // Verdicts that would otherwise be `passed` are inconclusive, because some of the random packets are
        // unreadable.
        let whole = outcomes.count { $0.check.text.hasSuffix("lines crlf") && $0.verdict != .failed }
        collected.output("whole lines: \(whole)\n")
        var text: [UInt8] = []
        for outcome in outcomes { word(outcome, &text) }
        collected.output(String(decoding: text, as: UTF8.self))
        return collected.text
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func twoSharesGiveTheSameResult(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("random.pcap", RandomCapture(seed: seed, segments: 1_500).bytes)
        let alone = try inspected(path, workers: 1)
        #expect(alone.contains("retransmission") && alone.contains("missing") && !alone.contains("whole lines: 0\n"))
        #expect(try inspected(path, workers: 2) == alone)
    }

    /// There are more chunks than buffers, so each thread has to wait for the other.
    @Test func sharesWaitForEachOthersChunks() throws {
        let folder = try TemporaryFolder()
        let capture = RandomCapture(seed: 99, segments: 7_000)
        #expect(capture.bytes.count > 5 << 17)
        let path = try folder.write("long.pcap", capture.bytes)
        let alone = try inspected(path, workers: 1)
        for _ in 0..<2 { #expect(try inspected(path, workers: 2) == alone) }
    }

    /// A record with an impossible length, or a truncated record, at various places in the file.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func damageIsTheSameInShares(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var bytes = RandomCapture(seed: seed, segments: 600).bytes
        let place = bytes.count * Int(seed) / 11
        if seed % 2 == 0 {
            bytes.removeLast(bytes.count - place)
        } else {
            for offset in place..<min(place + 300, bytes.count) { bytes[offset] = 0xff }
        }
        let path = try folder.write("damaged.pcap", bytes)
        #expect(try inspected(path, workers: 2) == inspected(path, workers: 1))
    }

    /// Limits that apply to all connections together have the same effect on one thread and on two, wherever they are
    /// reached.
    @Test(arguments: [0, 500, 3_000, 20_000, 200_000], [1, 10, 60, 1_000])
    func globalLimitsAreTheSameInShares(bytes: Int, flows: Int) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("random.pcap", RandomCapture(seed: 5, segments: 1_500).bytes)
        var limits = ConversationLimits(keptBytes: 100, waitingBytes: 500, keptEvents: 3, totalBytes: bytes)
        limits.maxConversations = flows
        let alone = try inspected(path, workers: 1, limits: limits, isJudged: false)
        #expect(try inspected(path, workers: 2, limits: limits, isJudged: false) == alone)
    }

    @Test func emptyAndInvalidFilesAreTheSameInShares() throws {
        let folder = try TemporaryFolder()
        for (name, bytes) in [("empty", []), ("short", [0xd4]), ("none", Array("no capture at all".utf8))] {
            let path = try folder.write(name, bytes)
            #expect(try inspected(path, workers: 2) == inspected(path, workers: 1))
        }
    }

    @Test(arguments: WholeCaptures.all)
    func wholeCapturesAreTheSameInShares(file: WholeCaptures.File) throws {
        let folder = try TemporaryFolder()
        let path = try file.path(in: folder)
        #expect(try inspected(path, workers: 2) == inspected(path, workers: 1))
    }
}
