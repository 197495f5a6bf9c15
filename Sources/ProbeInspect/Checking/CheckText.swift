import ProbeBase
import ProbeEvents
package import ProbeReport
import ProbeScenario
import ProbeWire

/// Formats outcomes. The text for people contains the outcomes that did not pass, each with the statement, the expected
/// value and the actual value. The JSON for programs contains all outcomes.
package enum CheckText {
    /// The maximum number of bytes of a value that are shown.
    private static let valueLimit = 64

    /// Appends the text of an outcome. Appends nothing for an outcome that passed.
    package static func append(_ outcome: CheckRun.Outcome, paint: Paint = .plain, to text: inout [UInt8]) {
        guard outcome.verdict != .passed else { return }
        text.append(text: paint(.verdict(outcome.verdict), outcome.verdict.rawValue))
        if let flow = outcome.flow {
            text.append(text: "  flow ")
            text.append(decimal: flow.number)
            text.append(text: "  ")
            text.append(flow.client)
            text.append(text: " -> ")
            text.append(flow.server)
        }
        let step = outcome.step.map { "  (as judged at \(Escaped.text($0)))" } ?? ""
        appendLine(outcome.check.heading + step, indent: "\n  ", to: &text)
        guard let failure = outcome.failure else { return }
        appendLine(failure.summary, indent: "  ", to: &text)
        if let expected = failure.expected, let actual = failure.actual {
            text.append(text: comparison(expected, actual, paint))
        }
        for detail in failure.details { appendLine(Escaped.text(detail), indent: "    ", to: &text) }
    }

    private static func appendLine(_ line: String, indent: String, to text: inout [UInt8]) {
        text.append(text: indent)
        text.append(text: line)
        text.append(UInt8(ascii: "\n"))
    }

    /// Returns the expected and the actual value, one above the other, starting shortly before the first difference.
    private static func comparison(_ expected: [UInt8], _ actual: [UInt8], _ paint: Paint) -> String {
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        let start = max(0, common - 16)
        func shown(_ bytes: [UInt8]) -> String {
            (start > 0 ? "…" : "") + Escaped.literal(Array(bytes.dropFirst(start)), limit: valueLimit)
        }
        let lead = (start > 0 ? 2 : 1) + Escaped.bytes(expected[start..<common]).count
        return "    expected  \(shown(expected))\n    actual    \(shown(actual))\n"
            + String(repeating: " ", count: 14 + lead) + paint(.marker, "^ offset \(common)") + "\n"
    }

    package static func summary(_ tally: CheckRun.Tally, checks: Int, flows: Int) -> String {
        var text = "\(ByteText.count(checks, "statement")) on \(ByteText.count(flows, "flow")): "
        text += "\(tally[.passed]) passed"
        for verdict in [Verdict.failed, .inconclusive] where tally[verdict] > 0 {
            text += ", \(tally[verdict]) \(verdict.rawValue)"
        }
        return text
    }

    /// Appends an outcome as a line of JSON.
    package static func append(json outcome: CheckRun.Outcome, file: String, to text: inout [UInt8]) {
        var members: [JSONValue.Member] = [("file", .string(file))]
        if let flow = outcome.flow { members.append(("flow", .integer(flow.number))) }
        members += [
            ("statement", .string(outcome.check.text)),
            ("at", .string(outcome.check.place.description)),
            ("verdict", .string(outcome.verdict.rawValue)),
        ]
        if let step = outcome.step { members.append(("step", .string(step))) }
        if let failure = outcome.failure {
            members.append(("summary", .string(failure.summary)))
            if let expected = failure.expected { members.append(("expected", .string(Escaped.bytes(expected)))) }
            if let actual = failure.actual { members.append(("actual", .string(Escaped.bytes(actual)))) }
            members.append(("details", .array(failure.details.map { .string($0) })))
        }
        text.append(text: InspectJSON.line("verdict", members))
    }
}
