import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeTransport
import Testing

/// A script, and what has to come of it.
///
/// The line that has to be blamed ends in `#!`; where none does, the finding has to stand at no particular line.
struct Scene: Sendable, CustomTestStringConvertible {
    var name: String
    var script: String
    var verdict: Verdict
    /// Parts of the first finding's texts (summary, details, hints, expected, actual).
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

    /// With the title that every script needs.
    var text: String { script.hasPrefix("scenario") ? script : "scenario \"\(name)\"\n" + script }

    /// Number of the line that ends in `#!`.
    var blamedLine: Int? {
        text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.hasSuffix("#!") }.map { $0 + 1 }
    }

    /// Runs its first case and compares.
    func verify(
        subject: (any SubjectSource)? = Stage.bsd, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        if needsCapture && Stage.capture == nil {
            try Test.cancel("\(name): capturing is not permitted here", sourceLocation: sourceLocation)
        }
        let result = try await Stage.firstResult(
            text, subject: subject, timeScale: timeScale, sourceLocation: sourceLocation)
        let finding = result.findings.first
        let said = finding.map(Scene.texts) ?? ""
        if Stage.capture == nil, result.verdict != verdict, said.contains("no capture here") {
            // It needs the wire for a part of it, and says so: not judged is right then.
            try Test.cancel("\(name): capturing is not permitted here", sourceLocation: sourceLocation)
        }
        #expect(result.verdict == verdict, "\(name): \(said)", sourceLocation: sourceLocation)
        for part in says {
            #expect(
                said.contains(part), "\(name) should say: \(part)\nbut says: \(said)", sourceLocation: sourceLocation)
        }
        if let blamedLine {
            let line = finding?.span.map { result.sources.location(of: $0).line }
            #expect(line == blamedLine, "\(name): \(said)", sourceLocation: sourceLocation)
        }
    }

    /// All that a finding says, one part a line.
    static func texts(_ finding: Finding) -> String {
        var parts = [finding.summary] + finding.details + finding.hints
        if let expected = finding.expected { parts.append("expected: \(Escaped.bytes(expected))") }
        if let actual = finding.actual { parts.append("actual: \(Escaped.bytes(actual))") }
        parts += finding.actors.map { "\($0.name) \($0.state)" }
        return parts.joined(separator: "\n")
    }
}
