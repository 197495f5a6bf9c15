import ProbeBase
import ProbeEvents
import ProbeInspect
import ProbeScenario
import ProbeWire
import Testing

/// Tests of wire statements that are judged on captures.
@Suite struct CheckTests {
    private func parse(_ text: String, framing: Framing = .crlf) -> Result<WireCheckList, WireCheckError> {
        WireCheck.parse(path: "a.checks", bytes: Array(text.utf8), framing: framing) { (_) throws(LoadError) in
            throw .notFound
        }
    }

    private func judge(
        _ text: String, on capture: [UInt8], filter: ConnectionFilter = ConnectionFilter(), framing: Framing = .crlf,
        maxFlows: Int? = nil
    ) throws -> (verdicts: [Verdict], text: String, code: Int32) {
        let list = try parse(text, framing: framing).get()
        var limits = ConversationLimits.judging(list.checks.map(\.assertion))
        if let maxFlows { limits.maxConversations = maxFlows }
        let inspection = try inspect(capture, limits: limits)
        let outcomes = CheckRun(list.checks, on: inspection, filter: filter).outcomes
        var text: [UInt8] = []
        for outcome in outcomes { CheckText.append(outcome, to: &text) }
        return (outcomes.map(\.verdict), String(decoding: text, as: UTF8.self), CheckRun.Tally(outcomes).exitCode)
    }

    @Test(
        arguments: [
            ("wire server -> client segments \"220 rea\", \"dy\\r\", \"\\n\"", Verdict.passed),
            ("wire server -> client segments 3", .passed),
            ("server -> client bytes \"220 ready\\r\\n\"", .passed),
            ("wire server -> client gap >= 25ms", .passed),
            ("wire server -> client gap 1 >= 35ms", .failed),
            ("wire client -> server lines crlf", .passed),
            ("wire client -> server lines lf", .failed),
            ("wire client -> server messages 1", .passed),
            ("wire client -> server messages 2", .failed),
            ("wire server -> client largest segment <= 7B", .passed),
            ("wire server -> client longest line <= 9B", .passed),
            ("wire server -> client longest line < 9B", .failed),
            ("wire server -> client first byte within 1ms", .passed),
            ("wire fin from server", .passed), ("wire rst from client", .failed), ("wire no rst", .passed),
            ("wire closed by server first", .passed), ("wire closed by client first", .failed),
            ("wire handshake complete", .passed), ("wire no retransmission", .passed),
            ("wire packets <= 9", .failed), ("wire packets == 10", .passed),
            ("wire server -> client lacks \"yready\"", .passed), ("wire server -> client lacks \"ready\"", .failed),
            ("wire server -> client records 0", .passed), ("wire server -> client records 1", .failed),
            ("wire server -> client tls", .failed), ("wire server -> client tls from the start", .failed),
            // No packets follow the end of a capture, so a statement that would wait during a run fails.
            ("wire server -> client zero window", .failed), ("wire client -> server urgent", .failed),
            ("wire client -> server gap >= 1ms", .failed),
            ("wire client -> server bytes \"QUIT\\r\\n\" + \"x\"", .failed),
        ])
    func statementHasTheExpectedVerdict(text: String, verdict: Verdict) throws {
        let result = try judge(text, on: CaptureBuilder.greeting)
        #expect(result.verdicts == [verdict])
        #expect(result.code == (verdict == .passed ? 0 : 1))
        #expect(result.text.isEmpty == (verdict == .passed))
    }

    /// Connections that were not followed are not judged. Such a connection never makes a statement pass, whether its
    /// outcome is returned or written at once, and whatever the filter is.
    @Test(arguments: [
        ("wire packets >= 1", ConnectionFilter(), [Verdict.passed, .inconclusive], Int32(3)),
        ("wire packets > 100", ConnectionFilter(), [.inconclusive, .inconclusive], 3),
        ("wire packets < 3", ConnectionFilter(), [.failed, .inconclusive], 1),
        ("wire packets >= 1", ConnectionFilter(number: 0), [.passed], 0),
        ("wire packets >= 1", ConnectionFilter(number: 1), [.inconclusive], 3),
        ("wire packets >= 1", ConnectionFilter(ports: [9]), [.inconclusive], 3),
        ("wire packets >= 1\nwire no rst", ConnectionFilter(number: 5), [.inconclusive, .inconclusive], 3),
    ])
    func unfollowedConnectionsAreInconclusive(
        text: String, filter: ConnectionFilter, verdicts: [Verdict], code: Int32
    ) throws {
        let result = try judge(text, on: CaptureBuilder.troubled, filter: filter, maxFlows: 1)
        #expect(result.verdicts == verdicts)
        #expect(result.code == code)
        #expect(result.text.contains("2 packets of later flows were not followed") == verdicts.contains(.inconclusive))
        let list = try parse(text).get()
        var limits = ConversationLimits.judging(list.checks.map(\.assertion))
        limits.maxConversations = 1
        let inspection = try inspect(CaptureBuilder.troubled, limits: limits)
        var json: [UInt8] = []
        let tally = CheckRun.judge(
            list.checks, on: inspection, filter: filter, wordsPassed: true,
            word: { CheckText.append(json: $0, file: "a", to: &$1) }, to: { json += $0 })
        #expect(tally.exitCode == code)
        let lines = String(decoding: json, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == verdicts.count)
        for (line, verdict) in zip(lines, verdicts) { #expect(line.contains("\"verdict\":\"\(verdict.rawValue)\"")) }
    }

    @Test func messagesFollowTheFraming() throws {
        #expect(try judge("client -> server messages 1", on: CaptureBuilder.greeting, framing: .lf).code == 0)
        #expect(try judge("client -> server messages 1", on: CaptureBuilder.greeting, framing: .u8).code == 1)
    }

    @Test func failureIsShownWithItsLocation() throws {
        let result = try judge(
            "# what is said\n\nwire server -> client bytes \"220 reedy\\r\\n\"\n", on: CaptureBuilder.greeting)
        #expect(
            result.text == """
                failed  flow 0  127.0.0.1:40000 -> 127.0.0.1:25
                  a.checks:3:1: wire server -> client bytes "220 reedy\\r\\n"
                  server sent unexpected bytes; first difference at offset 6
                    expected  "220 reedy\\r\\n"
                    actual    "220 ready\\r\\n"
                                     ^ offset 6

                """)
    }

    /// Each flow is judged. If missing bytes could change a verdict, the verdict is inconclusive.
    @Test func eachConnectionIsJudged() throws {
        let result = try judge(
            "wire no rst\nwire client -> server lines crlf\nwire client -> server segments >= 2",
            on: CaptureBuilder.troubled)
        #expect(result.verdicts == [.failed, .failed, .passed, .failed, .failed, .failed])
        #expect(result.code == 1)
        let one = try judge("wire rst from server", on: CaptureBuilder.troubled, filter: ConnectionFilter(number: 1))
        #expect(one.verdicts == [.passed])
    }

    @Test func statementWithoutAMatchingFlowFails() throws {
        let empty = CaptureBuilder().bytes
        #expect(try judge("wire no rst", on: empty).verdicts == [.failed])
        let filtered = try judge("wire no rst", on: CaptureBuilder.greeting, filter: ConnectionFilter(ports: [99]))
        #expect(filtered.verdicts == [.failed])
        #expect(filtered.text.contains("no flow matches the filter: port 99"))
    }

    /// If packets were dropped during the capture, all verdicts are inconclusive.
    @Test func captureWithDropsIsInconclusive() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        capture.close(&connection)
        #expect(try judge("wire no rst", on: capture.bytes).verdicts == [.passed])
        capture.drop(2)
        let result = try judge("wire no rst\nwire rst from server", on: capture.bytes)
        #expect(result.verdicts == [.inconclusive, .inconclusive])
        #expect(result.code == 3)
    }

    /// A wrong line end is quoted wherever it is in the stream, even though the stream is not kept.
    @Test func wrongLineEndsAreQuoted() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 1, server: 2)
        capture.open(connection)
        let line = String(repeating: "x", count: 90) + "\r\n"
        for _ in 0..<10 { capture.send(&connection, .client, line) }
        capture.send(&connection, .client, "here it is\nand on it goes\r\n")
        capture.send(&connection, .server, line + "EHLO")
        capture.send(&connection, .server, " again" + String(repeating: "y", count: 70))
        capture.close(&connection)
        let text = try judge("client -> server lines crlf\nserver -> client lines crlf", on: capture.bytes).text
        #expect(text.contains("client sent an LF without CR at offset 930\n    context: \"here it is\\nand on i\""))
        #expect(text.contains("unfinished: \"EHLO again" + String(repeating: "y", count: 54) + "\"… (80 bytes)"))
        // Only the next segment shows that the CR is bare.
        var other = CaptureBuilder()
        var second = CaptureBuilder.Connection(client: 1, server: 2)
        other.open(second)
        other.send(&second, .client, "one\r")
        other.send(&second, .client, "two\r\n")
        #expect(try judge("client -> server lines crlf", on: other.bytes).text.contains("context: \"\\rtwo\\r\\n\""))
    }

    /// If a file is truncated, the contents of the missing part are unknown.
    @Test func truncatedFileIsInconclusive() throws {
        let cut = Array(CaptureBuilder.greeting.dropLast(200))
        let result = try judge("wire handshake complete\nwire fin from client", on: cut)
        #expect(result.verdicts == [.passed, .inconclusive])
    }

    /// A packet that ends inside its headers may belong to any flow.
    @Test func unreadablePacketsAreInconclusive() throws {
        var capture = CaptureBuilder()
        let connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        #expect(try judge("wire handshake complete", on: capture.bytes).verdicts == [.passed])
        capture.packet(connection, .server, flags: 0x14, cut: 30)
        let found = try judge("wire handshake complete\nwire no rst", on: capture.bytes)
        #expect(found.verdicts == [.inconclusive, .inconclusive] && found.code == 3)
        #expect(found.text.contains("packets of the capture could not be read: 1 truncated"))
    }

    /// The unreadable packets may belong to the flow to which the statement applies.
    @Test func flowAmongUnreadablePacketsIsInconclusive() throws {
        var capture = CaptureBuilder()
        let connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.packet(connection, .client, flags: 0x02, cut: 30)
        let found = try judge("wire no rst", on: capture.bytes)
        #expect(
            found.verdicts == [.inconclusive] && found.text.contains("the capture contains no flow, but some packets"))
        #expect(try judge("wire no rst", on: CaptureBuilder().bytes).verdicts == [.failed])
    }

    @Test(
        arguments: [
            (
                "wire clent -> server lines crlf", "a.checks:1:6: error: unknown actor `clent`",
                "did you mean `client`?"
            ),
            ("wire client -> server line crlf", "a.checks:1:23: error:", "^"),
            ("wire client -> client lines crlf", "`client` has no connection to itself", "^"),
            ("wire client -> server bytes x", "unknown variable `x`", "^"),
            ("wire client -> server bytes file(\"a\")", "`a` can't be read: no such file", "^"),
            ("client send \"x\"", "a.checks:1:1: error:", "client"),
            ("wire no rst after 5ms", "error:", "after"),
            ("", "there is no statement", "wire client -> server lines crlf"),
            ("# only this", "there is no statement", "hint"),
            ("wire no rst\nwire no rts\nwire fin form client", "a.checks:2:9: error:", "a.checks:3:10: error:"),
            ("wire no rst\0", "error:", "a.checks:1:12"),
        ])
    func invalidStatementIsRefusedWithItsLocation(text: String, first: String, second: String) {
        guard case .failure(let error) = parse(text) else {
            Issue.record("an invalid statement was accepted: \(text)")
            return
        }
        #expect(error.text.contains(first), "\(error.text)")
        #expect(error.text.contains(second), "\(error.text)")
    }
}
