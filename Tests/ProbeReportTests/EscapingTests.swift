import ProbeBase
import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Every document must remain well-formed, regardless of the bytes from the wire, from a program or from a script.
@Suite struct EscapingTests {
    /// Samples of hostile bytes: every byte value, the special characters of each format, and noise.
    static let hostile: [[UInt8]] =
        [
            Array(0...255), Array("]]><![CDATA[</failure></testcase>&amp;&#0;".utf8),
            Array("\n  ...\nnot ok 1 - x # TODO\nBail out!\n1..0\n  ---\n".utf8), Array("# SKIP \\# \\".utf8),
            Array("\n::error::x\r\n##[error]x\n::t0ken::\n::stop-commands::y\n%0A".utf8),
            Array("\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}\u{85}\u{feff}\u{e000}".utf8),
            Array("\u{1f600}é日本\u{e0041}".utf8), [0xed, 0xa0, 0x80, 0xc0, 0x80, 0xf8, 0x80, 0xe2, 0x82],
            // The noncharacters U+FFFE, U+FFFF, U+FDD0 and U+10FFFF.
            [0xef, 0xbf, 0xbe, 0xef, 0xbf, 0xbf, 0xef, 0xb7, 0x90, 0xf4, 0x8f, 0xbf, 0xbf],
            Array("\"},{\"event\":\"x\\u0000".utf8), [],
        ] + noise

    private static var noise: [[UInt8]] {
        var generator = SplitMix64(seed: 7)
        return (0..<20).map { generator.bytes($0 * 13) }
    }

    /// Returns a case in which every text consists of the given bytes.
    static func result(_ bytes: [UInt8], _ verdict: Verdict) -> CaseResult {
        let text = String(decoding: bytes, as: UTF8.self)
        let span = SourceSpan(start: bytes.count / 3, end: bytes.count * 2 / 3)
        let finding = Finding(
            verdict, at: span, text, expected: bytes, actual: Array(bytes.reversed()), details: [text], hints: [text],
            actors: [ActorState(name: text, state: text)])
        let kinds: [TimelineEntry.Kind] = [
            .step(span, text), .stepFailed(span), .packet(TimelinePacket(text)),
            .output(actor: text, isError: true, bytes),
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
        summary.runErrors = [text]
        return [.started(caseCount: 7), .message(text)]
            + Verdict.allCases.flatMap { [.caseStarted(id: text), .caseEnded(result(bytes, $0))] } + [.ended(summary)]
    }

    @Test(arguments: hostile.indices) func consoleHasNoTerminalControls(index: Int) {
        let events = Self.events(Self.hostile[index])
        let console = ConsoleRecorder(
            style: .init(usesColor: true, progressWidth: 60), options: .sample(severalSubjects: true))
        // The recorder's own control sequences are removed first; the remaining text must contain no control sequences.
        let text = TerminalText.withoutColour(console.written(events).replacing("\r\u{1b}[K", with: ""))
        let unsafe = text.unicodeScalars.filter { $0 != "\n" && !Self.isVisible($0) }
        #expect(unsafe.map { String($0.value, radix: 16) } == [])
    }

    @Test(arguments: hostile.indices) func tapKeepsItsStructure(index: Int) throws {
        let document = try TAPDocument(TAPRecorder(options: .sample()).written(Self.events(Self.hostile[index])))
        #expect(document.points.map(\.isOK) == Verdict.allCases.map { $0 >= .unsupported } + [true])
        let id = Escaped.text(String(decoding: Self.hostile[index], as: UTF8.self))
        #expect(document.points.allSatisfy { $0.description == id })
    }

    /// Each diagnostic must be one YAML document, from which the text of the finding can be read back unchanged.
    @Test(.enabled(if: Python.hasYAML, "python3 has no yaml module"))
    func yamlRoundTrips() throws {
        var blocks: [String] = []
        var expected = ""
        for bytes in Self.hostile {
            let document = try TAPDocument(TAPRecorder(options: .sample()).written(Self.events(bytes)))
            blocks += document.points.dropLast().map { $0.diagnostic.joined(separator: "\n") }
            let summary = Python.hex(Array(String(decoding: bytes, as: UTF8.self).utf8))
            expected += Verdict.allCases.map { "\($0.rawValue) \(summary)\n" }.joined()
        }
        let program = """
            import sys, yaml
            for d in yaml.load_all(sys.stdin.buffer.read(), yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
                print(d["verdict"], d["message"].encode().hex())
            """
        #expect(try Python.run(program, input: blocks.joined(separator: "\n---\n")) == expected)
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func xmlRoundTrips() throws {
        // The documents are separated by form feeds, which an XML document can't contain.
        let documents = Self.hostile.map { JUnitRecorder(options: .sample()).written(Self.events($0)) }
        #expect(documents.allSatisfy { !$0.contains("]]>") && !$0.contains("\u{c}") })
        let program =
            "import sys, io\n"
            + "for document in sys.stdin.buffer.read().split(b'\\x0c'):\n"
            + JUnitRecorderTests.reader.replacing("sys.stdin.buffer.read()", with: "document")
            .split(separator: "\n").map { "    \($0)\n" }.joined()
        let lines = try Python.run(program, input: documents.joined(separator: "\u{c}")).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("case|") } == 8 * Self.hostile.count)
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func jsonIsValidAndVisible() throws {
        let text = Self.hostile.map { JSONRecorder(options: .sample()).written(Self.events($0)) }.joined()
        let events = try Python.run(JSONRecorderTests.validator, [JSONRecorderTests.schema], input: text)
        #expect(events.split(separator: "\n").count { $0 == "case-ended" } == Self.hostile.count * 6)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Self.isVisible($0) })
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func jsonPreservesEveryByte() throws {
        let recorder = JSONRecorder(options: .sample())
        let lines = Self.hostile.map { recorder.written([.caseEnded(Self.result($0, .failed))]) }
        let program = """
            import sys, json, re
            names = {"r": "\\r", "n": "\\n", "t": "\\t", "0": "\\0"}
            def one(m): return chr(int(m[1][1:], 16)) if m[1][0] == "x" else names.get(m[1], m[1])
            for line in sys.stdin.buffer.read().split(b"\\n")[:-1]:
                v = json.loads(line)["findings"][0]
                e = v["expected"]
                b = re.sub(r"\\\\(x[0-9a-f]{2}|.)", one, e["escaped"]).encode("latin-1")
                assert len(b) == e["length"]
                print(b.hex(), v["summary"].encode().hex())
            """
        let expected = Self.hostile.map { bytes in
            "\(Python.hex(bytes)) \(Python.hex(Array(String(decoding: bytes, as: UTF8.self).utf8)))\n"
        }
        #expect(try Python.run(program, input: lines.joined()) == expected.joined())
    }

    @Test(arguments: hostile.indices) func githubHasNoInvisibleCharacters(index: Int) {
        let recorder = GitHubRecorder(options: .sample(), workspace: nil)
        let text = recorder.written(Self.events(Self.hostile[index]))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Self.isVisible($0) })
        let lines = text.split(separator: "\n")
        // The lines are the message, the annotations of three cases, and the run error.
        #expect(lines.count == 1 + 3 + 1)
        for line in lines {
            let command = line.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: true)
            #expect(command.first?.hasPrefix("error ") == true || command.first?.hasPrefix("warning ") == true)
        }
    }

    static func isVisible(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
