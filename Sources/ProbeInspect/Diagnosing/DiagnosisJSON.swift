import ProbeBase
package import ProbeDiagnose

/// Writes the output of `diagnose --json`: one line with a JSON object for each flow, and a last line with an object
/// whose only member is `summary`. `docs/diagnose.schema.json` describes both kinds of objects.
package enum DiagnosisJSON {
    package static func line(_ flow: FlowDiagnosis, file: String) -> String {
        let members: [JSONValue.Member] = [
            ("version", .integer(1)), ("file", .string(file)), ("flow", .integer(flow.number)),
            ("client", .string("\(flow.client)")), ("server", .string("\(flow.server)")),
            ("start", .seconds(nanoseconds: Int64(clamping: flow.start))),
            ("duration", .seconds(nanoseconds: flow.duration)), ("trailing", .seconds(nanoseconds: flow.trailing)),
            ("capture-point", .string(flow.point.rawValue)), ("packets", .integer(flow.packetCount)),
            ("client-bytes", .integer(Int(flow.clientBytes))), ("server-bytes", .integer(Int(flow.serverBytes))),
            ("round-trip", flow.roundTrip.map { .seconds(nanoseconds: $0) } ?? .null),
            ("budget", .object(flow.budget.used.map { ($0.state.key, .seconds(nanoseconds: $0.time)) })),
            ("findings", .array(flow.findings.map { object($0) })),
            ("suppressed", .array(flow.suppressed.map { object($0) })),
        ]
        return text(.object(members))
    }

    /// Returns a finding about a flow of a live capture.
    package static func line(_ finding: FlowFinding, of flow: FlowDiagnosis, file: String) -> String {
        let members: [JSONValue.Member] = [
            ("version", .integer(1)), ("type", .string("finding")), ("file", .string(file)),
            ("flow", .integer(flow.number)), ("client", .string("\(flow.client)")),
            ("server", .string("\(flow.server)")), ("finding", object(finding)),
        ]
        return text(.object(members))
    }

    /// Returns the last line, which describes the capture as a whole.
    package static func summary(_ report: DiagnosisReport, file: String) -> String {
        let counts = FindingSeverity.allCases.map { severity -> JSONValue.Member in
            ("\(severity.rawValue)s", .integer(report.flows.count { $0.severity == severity }))
        }
        let members: [JSONValue.Member] =
            [("version", .integer(1)), ("file", .string(file)), ("flows", .integer(report.flows.count))] + counts + [
                (
                    "findings",
                    .array(
                        report.shared.map { shared in
                            object(shared.finding, [("flows", .array(shared.flows.map { .integer($0) }))])
                        })
                ), ("remarks", .array(report.remarks.map { .string($0) })),
            ]
        return text(.object([("summary", .object(members))]))
    }

    private static func text(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) + "\n" }

    /// Returns the JSON object for a finding. Each number in the finding's sentence also has a separate key.
    private static func object(_ finding: FlowFinding, _ more: [JSONValue.Member] = []) -> JSONValue {
        var members: [JSONValue.Member] = [
            ("id", .string(finding.id.rawValue)), ("severity", .string(finding.severity.rawValue)),
            ("certainty", .string(finding.certainty.rawValue)), ("side", .string(finding.side.rawValue)),
            ("sentence", .string(finding.sentence)), ("evidence", .array(finding.evidence.map { .integer($0) })),
            ("next", .string(finding.next)), ("rivals", .array(finding.rivals.map { .string($0) })),
        ]
        if let cause = finding.suppressedBy { members.append(("suppressed-by", .string(cause.rawValue))) }
        if let whole = finding.partOf { members.append(("part-of", .string(whole.rawValue))) }
        return .object(members + more + finding.numbers.map { ($0.key, $0.value) })
    }
}
