import ProbeEvents
import ProbeReport
package import ProbeScenario
import ProbeWire

/// Outcomes for people: what did not pass, with the statement, what was expected and what was there.
package struct CheckText {
    private let sources: SourceMap
    /// Bytes of a value that are shown.
    private static let valueLimit = 64

    package init(sources: SourceMap) {
        self.sources = sources
    }

    /// Empty for one that passed.
    package func text(_ outcome: CheckRun.Outcome) -> String {
        guard outcome.verdict != .passed else { return "" }
        var text = outcome.verdict.rawValue
        if let flow = outcome.flow { text += "  flow \(flow.number)  \(flow.client) -> \(flow.server)" }
        let place = sources.location(of: outcome.check.span)
        text += "\n  \(EscapedBytes.safeText(place.path)):\(place.line):\(place.column): "
        text += EscapedBytes.safeText(outcome.check.text) + "\n"
        guard let failure = outcome.failure else { return text }
        text += "  \(failure.summary)\n"
        if let expected = failure.expected, let actual = failure.actual {
            text += comparison(expected, actual)
        }
        for detail in failure.details { text += "    \(EscapedBytes.safeText(detail))\n" }
        return text
    }

    /// Both from a little before the first difference on, one above the other.
    private func comparison(_ expected: [UInt8], _ actual: [UInt8]) -> String {
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        let start = max(0, common - 16)
        func shown(_ bytes: [UInt8]) -> String {
            (start > 0 ? "…" : "") + EscapedBytes.quoted(Array(bytes.dropFirst(start)), limit: Self.valueLimit)
        }
        let lead = (start > 0 ? 2 : 1) + EscapedBytes.text(expected[start..<common]).count
        return "    expected  \(shown(expected))\n    actual    \(shown(actual))\n"
            + String(repeating: " ", count: 14 + lead) + "^ offset \(common)\n"
    }

    package static func summary(_ tally: CheckRun.Tally, checks: Int, flows: Int) -> String {
        var text = "\(ByteText.count(checks, "statement")) on \(ByteText.count(flows, "flow")): "
        text += "\(tally[.passed]) passed"
        for verdict in [Verdict.failed, .inconclusive] where tally[verdict] > 0 {
            text += ", \(tally[verdict]) \(verdict.rawValue)"
        }
        return text
    }

    package func json(_ outcome: CheckRun.Outcome, file: String) -> String {
        var members: [(key: String, value: JSONValue)] = [("file", .string(file))]
        if let flow = outcome.flow { members.append(("flow", .integer(Int64(flow.number)))) }
        members += [
            ("statement", .string(outcome.check.text)),
            ("at", .string(sources.location(of: outcome.check.span).description)),
            ("verdict", .string(outcome.verdict.rawValue)),
        ]
        if let failure = outcome.failure {
            members.append(("summary", .string(failure.summary)))
            if let expected = failure.expected { members.append(("expected", .string(EscapedBytes.text(expected)))) }
            if let actual = failure.actual { members.append(("actual", .string(EscapedBytes.text(actual)))) }
            members.append(("details", .array(failure.details.map { .string($0) })))
        }
        return InspectJSON.line("verdict", members)
    }
}
