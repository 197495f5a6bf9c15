import ProbeBase
package import ProbeEvents

/// Reports the run as JSON, one event per line, in the order of the events; `docs/events.schema.json` describes a line.
///
/// The last line is always `run-ended`. If this line is missing from a file, the run was killed.
package struct JSONRecorder: Recorder {
    private let options: ReportOptions

    package init(options: ReportOptions) {
        self.options = options
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started(let count):
            var members: [JSONValue.Member] = [
                ("tool", .string("tcpprobe")), ("toolVersion", .string(options.version)),
                ("cases", .integer(count)), ("strict", .boolean(options.strict)),
            ]
            if let startedAt = options.startedAt { members.append(("date", .string(DateText.iso8601(startedAt)))) }
            return line("run-started", time, members)
        case .message(let text): return line("message", time, [("text", .string(text))])
        case .caseStarted(let id, _): return line("case-started", time, [("id", .string(id))])
        case .caseEnded(let result):
            return line("case-ended", time, JSONEncoding.members(of: result, rules: options.rules))
        case .ended(let summary):
            return summary.notRunCases.flatMap { line("case-not-run", time, JSONEncoding.members(of: $0)) }
                + line("run-ended", time, JSONEncoding.members(of: summary))
        }
    }

    private func line(_ name: String, _ time: Int64, _ members: [JSONValue.Member]) -> [UInt8] {
        JSONEncoding.event(name, at: time, members).encoded() + [10]
    }
}
