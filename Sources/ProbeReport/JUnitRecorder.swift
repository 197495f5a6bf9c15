import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Reports the run as JUnit XML for CI systems, with a suite for each script and a test case for each case.
///
/// `failed` is reported as a `failure`, `error` and `inconclusive` as an `error`. `skipped`, `unsupported` and cases
/// that were not run are reported as `skipped`. An expected failure, and a failure of a level that does not fail the
/// run, are also reported as `skipped`, and include the failure detail. A problem with the run itself (an interruption,
/// a report that could not be written) is an error in a final suite named `tcpprobe`.
package struct JUnitRecorder: Recorder {
    private struct Suite {
        var name: String
        var cases: [UInt8] = []
        var counts = Counts()
        /// The duration of the suite's cases in nanoseconds.
        var time: Int64 = 0
    }

    private struct Counts {
        var tests = 0
        var failures = 0
        var errors = 0
        var skipped = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                tests: left.tests + right.tests, failures: left.failures + right.failures,
                errors: left.errors + right.errors, skipped: left.skipped + right.skipped)
        }

        /// The attributes of the root element, which has no `skipped` attribute.
        var totals: String { "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\"" }
        var attributes: String { "\(totals) skipped=\"\(skipped)\"" }
    }

    /// The maximum number of timeline lines for each failure.
    private static let timelineLimit = 200

    private let options: ReportOptions
    private let text: CaseText
    /// The suites, in the order in which their first cases ended.
    private var suites: [Suite] = []
    private var indices: [String: Int] = [:]
    private var messages: [String] = []

    package init(options: ReportOptions) {
        self.options = options
        text = CaseText(options: options, timelineLimit: JUnitRecorder.timelineLimit)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started, .caseStarted, .exploring: return []
        case .message(let text): messages.append(text)
        case .caseEnded(let result): add(result)
        case .ended(let summary): return document(summary)
        }
        return []
    }

    // MARK: Cases

    private mutating func add(_ result: CaseResult) {
        var element = open(options.name(of: result), path: result.path, time: result.duration)
        var counts = Counts(tests: 1)
        let detail = text.failureDetail(result)
        let summary = result.findings.first?.summary ?? result.verdict.rawValue
        switch (options.disposition(of: result), result.verdict) {
        case (.expected(let expected), _):
            counts.skipped = 1
            element += skipped("expected: \(expected.comment ?? summary)", detail)
        case (.unexpectedPass(let expected), _) where options.strict:
            counts.failures = 1
            let message = "passed, but \(expected.place) expects \(expected.verdict.rawValue)"
            element += outcome("failure", type: "unexpected-pass", message: message, "")
        case (_, .passed): break
        case (.advisory, _):
            counts.skipped = 1
            element += skipped("failed (level \(result.level.rawValue)): \(summary)", detail)
        case (_, .failed):
            counts.failures = 1
            element += outcome("failure", type: "failed", message: summary, detail)
        case (_, .error), (_, .inconclusive):
            counts.errors = 1
            let prefix = result.verdict == .inconclusive ? "inconclusive: " : ""
            element += outcome("error", type: result.verdict.rawValue, message: prefix + summary, detail)
        case (_, .skipped), (_, .unsupported):
            counts.skipped = 1
            let prefix = result.verdict == .unsupported ? "unsupported: " : ""
            element += skipped(prefix + summary, "")
        }
        element += facts(result) + "    </testcase>\n"
        append(element, to: result.path, subject: result.subject, counts, time: max(0, result.duration))
    }

    private mutating func append(_ element: String, to path: String, subject: String?, _ counts: Counts, time: Int64) {
        let name = options.name(id: path, subject: subject)
        let index = indices[name] ?? suites.count
        if index == suites.count {
            indices[name] = index
            suites.append(Suite(name: name))
        }
        suites[index].cases += Array(element.utf8)
        suites[index].counts = suites[index].counts + counts
        suites[index].time += time
    }

    private func open(_ name: String, path: String, time: Int64) -> String {
        "    <testcase name=\"\(XMLText.attribute(Escaped.text(name)))\" "
            + "classname=\"\(XMLText.attribute(Escaped.text(JUnitRecorder.className(of: path))))\" "
            + "time=\"\(JUnitRecorder.seconds(time))\">\n"
    }

    /// Returns the class name, such as `close.eof-mid-line` for `./close/eof-mid-line.scn`. CI systems interpret the
    /// part before the last dot as a package.
    static func className(of path: String) -> String {
        let plain = path.hasSuffix(".scn") ? path.dropLast(4) : path[...]
        let parts = plain.split(separator: "/").filter { $0 != "." && $0 != ".." }
        let names = parts.map { part in String(part.map { $0 == "." ? "_" : $0 }) }
        return names.isEmpty ? "scenario" : names.joined(separator: ".")
    }

    /// Returns the time in seconds, with at most three decimals, as the schemas require.
    private static func seconds(_ nanoseconds: Int64) -> String {
        DurationText.fixed(Double(max(0, nanoseconds)) / 1e9, digits: 3)
    }

    /// Returns the case's metadata. The schemas allow no properties in a test case, so the metadata is written as the
    /// output of the test case.
    private func facts(_ result: CaseResult) -> String {
        var values = [
            ("title", result.title), ("level", result.level.rawValue), ("verdict", result.verdict.rawValue),
        ]
        if !result.tags.isEmpty { values.append(("tags", result.tags.joined(separator: ", "))) }
        if let subject = result.subject { values.append(("subject", subject)) }
        if let expected = options.rules.expectations[result.key] {
            values.append(("expected", expected.verdict.rawValue))
        }
        if let alone = result.alone {
            values += [("fails", alone.text ?? "unknown"), ("verdict alone", alone.verdict.rawValue)]
        }
        if let about = result.about { values.append(("about", about)) }
        for because in result.because { values.append(("because", because)) }
        if let path = result.capturePath { values.append(("capture", path)) }
        values += (result.exploration?.facts ?? []).map { ($0.name, $0.value) }
        let lines = values.map { "\($0.0): \(Escaped.text($0.1))\n" }.joined()
        return "      <system-out>\(XMLText.content(lines))</system-out>\n"
    }

    private func outcome(_ element: String, type: String, message: String, _ detail: String) -> String {
        let head = "      <\(element) type=\"\(type)\" message=\"\(XMLText.attribute(Escaped.text(message)))\""
        return detail.isEmpty ? head + "/>\n" : head + ">\(XMLText.content(detail))</\(element)>\n"
    }

    /// Returns the element for a case that is reported as skipped. The reason and the details are the element's
    /// content, because the Jenkins schema allows the element no attributes.
    private func skipped(_ message: String, _ detail: String) -> String {
        let text = detail.isEmpty ? Escaped.text(message) : Escaped.text(message) + "\n" + detail
        return "      <skipped>\(XMLText.content(text))</skipped>\n"
    }

    // MARK: The document

    private mutating func document(_ summary: RunSummary) -> [UInt8] {
        let interruption = summary.interruptionText.map { "not run: interrupted by \($0)" } ?? "not run"
        for item in summary.notRunCases {
            let element =
                open(options.name(id: item.id, subject: item.subject), path: item.path, time: 0)
                + skipped(interruption, "") + "    </testcase>\n"
            append(element, to: item.path, subject: item.subject, Counts(tests: 1, skipped: 1), time: 0)
        }
        addRunSuite(summary)
        let total = suites.reduce(Counts()) { $0 + $1.counts }
        var bytes = Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="tcpprobe" \(total.totals) time="\(JUnitRecorder.seconds(summary.duration))">

            """.utf8)
        let date = options.startedAt.map { " timestamp=\"\(DateText.iso8601($0))\"" } ?? ""
        for suite in suites {
            let name = XMLText.attribute(Escaped.text(suite.name))
            let head =
                "  <testsuite name=\"\(name)\" \(suite.counts.attributes) "
                + "time=\"\(JUnitRecorder.seconds(suite.time))\"\(date)>\n"
            bytes += Array(head.utf8) + suite.cases + Array("  </testsuite>\n".utf8)
        }
        suites = []
        return bytes + Array("</testsuites>\n".utf8)
    }

    /// Adds a suite for the run itself. Without this suite, the report of a failed run could contain only cases that
    /// passed.
    private mutating func addRunSuite(_ summary: RunSummary) {
        var runErrors = summary.runErrors
        if let signal = summary.interruptionText {
            runErrors.insert("the run was interrupted by \(signal); cases not run: \(summary.notRun)", at: 0)
        }
        let messages = messages + summary.notes
        if runErrors.isEmpty, messages.isEmpty { return }
        var element =
            "    <testcase name=\"run\" classname=\"tcpprobe\" time=\"\(JUnitRecorder.seconds(summary.duration))\">\n"
        if let first = runErrors.first {
            let all = runErrors.map { Escaped.text($0) + "\n" }.joined()
            element += outcome("error", type: "run", message: first, all)
        }
        if !messages.isEmpty {
            let all = messages.map { Escaped.text($0) + "\n" }.joined()
            element += "      <system-out>\(XMLText.content(all))</system-out>\n"
        }
        element += "    </testcase>\n"
        append(element, to: "tcpprobe", subject: nil, Counts(tests: 1, errors: runErrors.isEmpty ? 0 : 1), time: 0)
    }
}
