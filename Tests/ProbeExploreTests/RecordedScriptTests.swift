import ProbeBase
import ProbeExplore
import ProbeScenario
import Testing

/// Tests scenarios that are written from recorded conversations.
struct RecordedScriptTests {
    typealias Side = ConversationSide

    static func conversation(_ turns: [(Side, String)], ends: [(Side, RecordedConversation.Event)] = [])
        -> RecordedConversation
    {
        var result = RecordedConversation()
        for (index, turn) in turns.enumerated() {
            result.add(.bytes(Array(turn.1.utf8)), from: turn.0, at: .milliseconds(index * 100))
        }
        for end in ends { result.add(end.1, from: end.0, at: .milliseconds(turns.count * 100)) }
        return result
    }

    /// Returns the steps of the written script, which must compile without errors.
    static func steps(
        _ conversations: [RecordedConversation], _ change: (inout RecordedScript.Options) -> Void = { _ in }
    ) throws -> [String] {
        var options = RecordedScript.Options()
        options.target = "127.0.0.1:25"
        change(&options)
        let script = try RecordedScript(conversations, options)
        let files = script.files
        let compiled = ScenarioCompiler.compile(path: "a.scn", bytes: script.bytes) { file throws(LoadError) in
            guard let found = files.first(where: { $0.name == file.path }) else { throw .notFound }
            return found.bytes
        }
        let text = String(decoding: script.bytes, as: UTF8.self)
        #expect(compiled.plan != nil, "\(text)\n\(compiled.diagnostics.map(\.text))")
        return text.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("C ") || $0.hasPrefix("S ") || $0.hasPrefix("wait")
        }
    }

    static let mail = conversation(
        [(.server, "220 ready\r\n"), (.client, "NOOP\r\nQUIT\r\n"), (.server, "250 OK\r\n221 bye\r\n")],
        ends: [(.server, .fin), (.client, .fin)])

    @Test func clientRoleIsWritten() throws {
        #expect(
            try Self.steps([Self.mail]) == [
                "C connect", "C expect line \"220 ready\"", "C send line \"NOOP\"", "C send line \"QUIT\"",
                "C expect line \"250 OK\"", "C expect line \"221 bye\"", "C expect eof", "C close",
            ])
    }

    @Test func serverRoleIsWritten() throws {
        let steps = try Self.steps([Self.mail]) { $0.role = .server }
        #expect(steps.prefix(3) == ["S accept", "S send line \"220 ready\"", "S expect line \"NOOP\""])
        #expect(steps.suffix(2) == ["S half-close", "S expect eof"])
    }

    @Test func bothRolesAreWritten() throws {
        let steps = try Self.steps([Self.mail]) { $0.role = .both }
        #expect(
            steps.prefix(4) == ["C connect", "S accept", "S send line \"220 ready\"", "C expect line \"220 ready\""])
    }

    @Test func pausesAreKeptOnRequest() throws {
        let steps = try Self.steps([Self.mail]) { $0.keepsTimes = true }
        #expect(steps.contains("wait 100ms"))
        #expect(steps.contains("C expect line \"250 OK\" after 50ms"))
        #expect(!steps.contains("C expect line \"221 bye\" after 50ms"))
    }

    @Test(arguments: [
        ("a\nb\n", "framing lf", ["C send line \"a\"", "C send line \"b\""]),
        ("\0\u{2}hi\0\u{1}x", "framing u16", ["C send message \"hi\"", "C send message \"x\""]),
        ("abc", "", ["C send \"abc\""]), ("a\r\nrest", "", ["C send line \"a\"", "C send \"rest\""]),
        ("a\nb\r\n", "", ["C send \"a\\nb\\r\\n\""]), ("cost: $5 ${x}\r\n", "", ["C send line \"cost: \\$5 \\${x}\""]),
    ])
    func unitsFollowTheFraming(sent: String, header: String, steps: [String]) throws {
        let conversation = Self.conversation([(.client, sent)])
        #expect(try Self.steps([conversation]).filter { $0.hasPrefix("C send") } == steps)
        let script = try RecordedScript([conversation], RecordedScript.Options())
        let text = String(decoding: script.bytes, as: UTF8.self)
        #expect(header.isEmpty ? !text.contains("framing") : text.contains(header))
    }

    @Test func largePayloadsAreWrittenToFiles() throws {
        let large = String(repeating: "x", count: 5000)
        let conversation = Self.conversation([(.client, large), (.server, large)])
        let script = try RecordedScript([conversation], RecordedScript.Options())
        #expect(script.files.count == 1 && script.files[0].bytes.count == 5000)
        #expect(try Self.steps([conversation]).contains("C send file(\"recorded.1.bin\")"))
    }

    @Test func differingValuesBecomeNamedPatterns() throws {
        func session(_ id: String, _ date: String) -> RecordedConversation {
            Self.conversation([
                (.server, "220 at \(date)\r\n"), (.client, "LOGIN\r\n"), (.server, "250 id=\(id).\r\n"),
                (.client, "USE \(id)\r\n"), (.server, "250 using \(id)\r\n"),
            ])
        }
        #expect(
            try Self.steps([session("4711", "10:20"), session("4813", "11:21")]) == [
                "C connect", "C expect line /^220 at (?<v1>[0-9]+:[0-9]+)$/", "C send line \"LOGIN\"",
                "C expect line /^250 id=(?<v2>[0-9]+)\\.$/", "C send line \"USE ${v2}\"",
                "C expect line \"250 using ${v2}\"",
            ])
    }

    /// The harness sends the same bytes as in the first recording, and expects the answer that belongs to these bytes.
    @Test func sentTextIsNotAPattern() throws {
        func session(_ word: String) -> RecordedConversation {
            Self.conversation([(.client, "hello \(word)\r\n"), (.server, "ok \(word)\r\n")])
        }
        #expect(
            try Self.steps([session("111"), session("222")]) == [
                "C connect", "C send line \"hello 111\"", "C expect line \"ok 111\"",
            ])
        #expect(
            try Self.steps([session("111"), session("222")]) { $0.role = .server } == [
                "S accept", "S expect line /^hello (?<v1>[0-9]+)$/", "S send line \"ok ${v1}\"",
            ])
    }

    @Test func differentExchangesAreNotMerged() {
        let other = Self.conversation([(.server, "220 ready\r\n"), (.server, "more\r\n")])
        #expect(throws: RecordedScript.Obstacle.self) {
            try RecordedScript([Self.mail, other], RecordedScript.Options())
        }
    }

    @Test func silenceAndTLSAreRefused() {
        #expect(throws: RecordedScript.Obstacle.self) {
            try RecordedScript([RecordedConversation()], RecordedScript.Options())
        }
        var tls = RecordedConversation()
        tls.add(.bytes([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]), from: .client, at: .zero)
        #expect(throws: RecordedScript.Obstacle.self) { try RecordedScript([tls], RecordedScript.Options()) }
    }

    @Test func resetsAreRecorded() throws {
        let conversation = Self.conversation([(.client, "a\r\n")], ends: [(.server, .reset)])
        #expect(try Self.steps([conversation]).last == "C expect reset")
        #expect(try Self.steps([conversation]) { $0.role = .server }.last == "S reset")
    }
}
