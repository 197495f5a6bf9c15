import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Whatever bytes come from the wire, from a program or from a script: each document stays what it is.
@Suite struct EscapingTests {
    /// Every byte, what each format takes for its own, and noise.
    static let hostile: [[UInt8]] =
        [
            Array(0...255), Array("]]><![CDATA[</failure></testcase>&amp;&#0;".utf8),
            Array("\n  ...\nnot ok 1 - x # TODO\nBail out!\n1..0\n  ---\n".utf8), Array("# SKIP \\# \\".utf8),
            Array("\n::error::x\r\n##[error]x\n::t0ken::\n::stop-commands::y\n%0A".utf8),
            Array("\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}\u{85}\u{feff}\u{e000}".utf8),
            Array("\u{1f600}é日本\u{e0041}".utf8), [0xed, 0xa0, 0x80, 0xc0, 0x80, 0xf8, 0x80, 0xe2, 0x82],
            // Noncharacters: U+FFFE, U+FFFF, U+FDD0, U+10FFFF.
            [0xef, 0xbf, 0xbe, 0xef, 0xbf, 0xbf, 0xef, 0xb7, 0x90, 0xf4, 0x8f, 0xbf, 0xbf],
            Array("\"},{\"event\":\"x\\u0000".utf8), [],
        ] + noise

    private static var noise: [[UInt8]] {
        var generator = SplitMix64(seed: 7)
        return (0..<20).map { generator.bytes($0 * 13) }
    }

    /// A case all of whose texts are these bytes.
    static func result(_ bytes: [UInt8], _ verdict: Verdict) -> CaseResult {
        let text = String(decoding: bytes, as: UTF8.self)
        let span = SourceSpan(start: bytes.count / 3, end: bytes.count * 2 / 3)
        let finding = Finding(
            verdict, at: span, text, expected: bytes, actual: Array(bytes.reversed()), details: [text], hints: [text],
            actors: [ActorState(name: text, state: text)])
        let kinds: [TimelineEntry.Kind] = [
            .step(span, text), .stepFailed(span), .packet(text), .output(actor: text, isError: true, bytes),
            .event(actor: text, text), .note(text),
        ]
        return CaseResult(
            id: text, path: text, sources: SourceMap([SourceFile(path: text, bytes: bytes)]), title: text, about: text,
            because: [text], level: .must, tags: [text], subject: text, verdict: verdict, findings: [finding],
            timeline: kinds.map { TimelineEntry(time: 1, kind: $0) }, duration: 1, capturePath: text, rerun: text)
    }

    static func events(_ bytes: [UInt8]) -> [RunEvent] {
        let text = String(decoding: bytes, as: UTF8.self)
        var summary = RunSummary()
        summary.notRun = 1
        summary.notRunCases = [PlannedCase(id: text, path: text, subject: text)]
        summary.troubles = [text]
        return [.started(caseCount: 7), .message(text)]
            + Verdict.allCases.flatMap { [.caseStarted(id: text), .caseEnded(result(bytes, $0))] } + [.ended(summary)]
    }

    @Test(arguments: hostile.indices) func terminal(index: Int) {
        let events = Self.events(Self.hostile[index])
        let console = ConsoleRecorder(style: .init(usesColor: true, progressWidth: 60), options: .sample(severalSubjects: true))
        // What is the recorder's own is taken out; nothing that a terminal obeys may be left.
        let text = TerminalText.screen(TerminalText.withoutColour(
            console.written(events).replacing("\r\u{1b}[K", with: ""))).joined(separator: "\n")
        for scalar in text.unicodeScalars {
            let isSafe = scalar == "\n" || Self.isVisible(scalar)
            #expect(isSafe, "U+\(String(scalar.value, radix: 16))")
        }
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { !$0.drop { $0 == " " }.hasPrefix("::") || $0.hasPrefix(" ") })
    }

    @Test(arguments: hostile.indices) func tap(index: Int) throws {
        let document = try TAPDocument(TAPRecorder(options: .sample()).written(Self.events(Self.hostile[index])))
        #expect(document.points.count == 7)
        #expect(document.points.map(\.isOK) == Verdict.allCases.map { $0 >= .unsupported } + [true])
        let text = EscapedBytes.safeText(Self.hostile[index])
        #expect(document.points.allSatisfy { $0.description == text })
        if Python.hasYAML, !document.points.isEmpty {
            let blocks = document.points.dropLast().map { $0.diagnostic.joined(separator: "\n") }
            let read = try Python.run(
                "import sys, yaml\nfor d in yaml.safe_load_all(sys.stdin.buffer.read()): print(d['verdict'], len(d['message']))",
                input: blocks.joined(separator: "\n---\n"))
            let length = String(decoding: Self.hostile[index], as: UTF8.self).unicodeScalars.count
            #expect(read == Verdict.allCases.map { "\($0.rawValue) \(length)\n" }.joined())
        }
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"), arguments: hostile.indices)
    func xml(index: Int) throws {
        let document = JUnitRecorder(options: .sample()).written(Self.events(Self.hostile[index]))
        let lines = try Python.run(JUnitRecorderTests.reader, input: document).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("case|") } == 8)
        #expect(!document.contains("]]>"))
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func json() throws {
        let text = Self.hostile.map { JSONRecorder(options: .sample()).written(Self.events($0)) }.joined()
        let events = try Python.run(JSONRecorderTests.validator, [JSONRecorderTests.schema], input: text)
        #expect(events.split(separator: "\n").count { $0 == "case-ended" } == Self.hostile.count * 6)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Self.isVisible($0) })
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func jsonKeepsEveryByte() throws {
        for bytes in Self.hostile where !bytes.isEmpty {
            let text = JSONRecorder(options: .sample()).written([.caseEnded(Self.result(bytes, .failed))])
            let program = """
                import sys, json
                v = json.loads(sys.stdin.read())["findings"][0]
                e = v["expected"]
                b = e["escaped"].encode("ascii").decode("unicode_escape").encode("latin-1")
                assert len(b) == e["length"]
                print(b.hex(), v["summary"].encode().hex())
                """
            let hex = { (bytes: [UInt8]) in bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
            #expect(
                try Python.run(program, input: text)
                    == "\(hex(bytes)) \(hex(Array(String(decoding: bytes, as: UTF8.self).utf8)))\n")
        }
    }

    @Test(arguments: hostile.indices) func github(index: Int) {
        let recorder = GitHubRecorder(options: .sample(), token: "t0ken", workspace: nil)
        let text = recorder.written(Self.events(Self.hostile[index]))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Self.isVisible($0) })
        let lines = text.split(separator: "\n")
        #expect(lines.prefix(2) == ["::stop-commands::t0ken", "::t0ken::"])
        // The message, three annotations of cases, the trouble.
        #expect(lines.count == 2 + 1 + 3 + 1)
        for line in lines.dropFirst(2) {
            let command = line.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: true)
            #expect(command.first?.hasPrefix("error ") == true || command.first?.hasPrefix("warning ") == true)
        }
    }

    private static func isVisible(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
