import ProbeBase
import ProbeEvents
import ProbeScenario

/// Writes the matrix as JSON, version 1 of the format, with one case per line; `docs/matrix.schema.json` describes the
/// format.
struct MatrixJSON {
    let matrix: ResultMatrix
    let summary: RunSummary
    let options: ReportOptions

    var bytes: [UInt8] {
        var members: [JSONValue.Member] = [
            ("version", .integer(1)), ("tool", .string("tcpprobe")), ("toolVersion", .string(options.version)),
        ]
        if let startedAt = options.startedAt { members.append(("date", .string(DateText.iso8601(startedAt)))) }
        members += [("duration", .integer(Int(max(0, summary.duration)))), ("strict", .boolean(options.strict))]
        if let signal = summary.interruptionText { members.append(("interruptedBy", .string(signal))) }
        members.append(("subjects", .array(matrix.subjects.indices.compactMap(subject))))
        // The object remains open, because the cases follow, one per line.
        var bytes = Array(JSONValue.object(members).encoded().dropLast())
        bytes += Array(",\"cases\":[".utf8)
        for (index, row) in matrix.rows.enumerated() {
            bytes += Array((index == 0 ? "\n" : ",\n").utf8) + value(row).encoded()
        }
        return bytes + Array("\n]}\n".utf8)
    }

    private func subject(_ index: Int) -> JSONValue? {
        guard let name = matrix.subjects[index] else { return nil }
        let score = matrix.score(ofSubject: index)
        var members: [JSONValue.Member] = Scenario.Level.allCases.map { level in
            (
                level.rawValue,
                .object([
                    ("passed", .integer(score.passed[level] ?? 0)),
                    ("judged", .integer(score.judged[level] ?? 0)),
                ])
            )
        }
        members += [
            ("unsupported", .integer(score.unsupported)), ("skipped", .integer(score.skipped)),
            ("notRun", .integer(score.notRun)),
        ]
        return .object([
            ("name", .string(name)), ("score", .object(members)), ("text", .string("\(name): \(score.text)")),
        ])
    }

    private func value(_ row: ResultMatrix.Row) -> JSONValue {
        var members: [JSONValue.Member] = [
            ("id", .string(row.id)), ("group", .string(row.group)), ("path", .string(row.path)),
            ("title", .string(row.title)),
        ]
        if let about = row.about { members.append(("about", .string(about))) }
        if !row.because.isEmpty { members.append(("because", .array(row.because.map(JSONValue.string)))) }
        members += [
            ("level", .string(row.level.rawValue)), ("tags", .array(row.tags.map(JSONValue.string))),
            ("results", .array(zip(matrix.subjects, row.cells).compactMap { value(row, $0, $1) })),
        ]
        return .object(members)
    }

    private func value(_ row: ResultMatrix.Row, _ subject: String?, _ cell: ResultMatrix.Cell?) -> JSONValue? {
        guard let cell else { return nil }
        var members: [JSONValue.Member] = []
        if let subject { members.append(("subject", .string(subject))) }
        members.append(("verdict", .string(cell.verdict?.rawValue ?? "not run")))
        if let expected = options.rules.expectations[CaseKey(id: row.id, subject: subject)] {
            members.append(("expected", .string(expected.verdict.rawValue)))
            if let comment = expected.comment { members.append(("expectedBecause", .string(comment))) }
        }
        if cell.verdict == nil { return .object(members) }
        members += [
            ("failsRun", .boolean(options.rules.failsRun(cell.disposition))),
            ("duration", .integer(Int(cell.duration))),
        ]
        if cell.rounds > 1 {
            members += [
                ("rounds", .integer(cell.rounds)),
                ("roundsWithVerdict", .integer(cell.roundsWithVerdict)),
            ]
        }
        if !cell.summary.isEmpty { members.append(("summary", .string(cell.summary))) }
        if !cell.diagnostic.isEmpty { members.append(("diagnostic", .string(cell.diagnostic))) }
        if !cell.timeline.isEmpty { members.append(("timeline", .string(cell.timeline))) }
        if let path = cell.capturePath { members.append(("capture", .string(path))) }
        members.append(("rerun", .string(cell.rerun)))
        return .object(members)
    }
}
