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
        case .exploring(let id, let progress):
            return line("exploring", time, [("id", .string(id))] + Self.members(of: progress))
        case .caseEnded(let result):
            return line("case-ended", time, JSONEncoding.members(of: result, rules: options.rules))
        case .ended(let summary):
            return summary.notRunCases.flatMap { line("case-not-run", time, JSONEncoding.members(of: $0)) }
                + line("run-ended", time, JSONEncoding.members(of: summary))
        }
    }

    private static func members(of progress: ExplorationProgress) -> [JSONValue.Member] {
        [
            ("tried", .integer(progress.tried)), ("perSecond", .number((progress.rate * 10).rounded() / 10)),
            ("singleCuts", .integer(progress.singleCuts)), ("singleCutsTried", .integer(progress.singleCutsTried)),
        ] + (progress.shrinkingRuns.map { [("shrinkingRuns", .integer($0))] } ?? [])
            + (progress.left.map { [("left", .seconds(nanoseconds: $0))] } ?? [])
    }

    private func line(_ name: String, _ time: Int64, _ members: [JSONValue.Member]) -> [UInt8] {
        JSONEncoding.event(name, at: time, members).encoded() + [10]
    }
}
