import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeTransport
import Testing

/// A script and its expected result.
///
/// The line that the finding must name ends in `#!`; without such a line, the finding must not name a particular line.
struct Scene: Sendable, CustomTestStringConvertible {
    var name: String
    var script: String
    var verdict: Verdict
    /// Texts that the first finding must contain (in its summary, details or hints, or in the expected or actual
    /// bytes).
    var says: [String]
    var needsCapture: Bool
    var timeScale: Double

    init(
        _ name: String, _ verdict: Verdict, says: [String] = [], needsCapture: Bool = false, timeScale: Double = 1,
        _ script: String
    ) {
        self.name = name
        self.verdict = verdict
        self.says = says
        self.needsCapture = needsCapture
        self.timeScale = timeScale
        self.script = script
    }

    var testDescription: String { name }

    /// The script, with a title added if it has none.
    var text: String { script.hasPrefix("scenario") ? script : "scenario \"\(name)\"\n" + script }

    /// The number of the line that ends in `#!`.
    var blamedLine: Int? {
        text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.hasSuffix("#!") }.map { $0 + 1 }
    }

    /// Runs the script's first case and compares its result.
    func verify(
        subject: (any SubjectSource)? = Stage.bsd, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        if needsCapture && Stage.capture == nil {
            try Test.cancel("\(name): capturing is not permitted here", sourceLocation: sourceLocation)
        }
        let result = try await Stage.firstResult(
            text, subject: subject, timeScale: timeScale, sourceLocation: sourceLocation)
        let finding = result.findings.first
        let texts = finding.map(Scene.texts) ?? ""
        if Stage.capture == nil, result.verdict != verdict, texts.contains("no capture here") {
            // A step of the script needs a capture, but capturing is not permitted, so the script can't be judged.
            try Test.cancel("\(name): capturing is not permitted here", sourceLocation: sourceLocation)
        }
        #expect(result.verdict == verdict, "\(name): \(texts)", sourceLocation: sourceLocation)
        for part in says {
            #expect(
                texts.contains(part), "\(name) should say: \(part)\nbut says: \(texts)", sourceLocation: sourceLocation)
        }
        if let blamedLine {
            let line = finding?.span.map { result.sources.location(of: $0).line }
            #expect(line == blamedLine, "\(name): \(texts)", sourceLocation: sourceLocation)
        }
    }

    /// Returns all texts of a finding, one per line.
    static func texts(_ finding: Finding) -> String {
        var parts = [finding.summary] + finding.details + finding.hints
        if let expected = finding.expected { parts.append("expected: \(Escaped.bytes(expected))") }
        if let actual = finding.actual { parts.append("actual: \(Escaped.bytes(actual))") }
        parts += finding.actors.map { "\($0.name) \($0.state)" }
        return parts.joined(separator: "\n")
    }
}
