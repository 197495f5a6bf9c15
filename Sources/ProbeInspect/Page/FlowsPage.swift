import ProbeBase
import ProbeDiagnose
import ProbeReport
import ProbeWire

/// The flows of a capture as a self-contained HTML page without scripts. The page contains a table of all flows and,
/// for the first flows, the diagnosis, the exchanged data, the time-sequence graphs and the ladder.
package struct FlowsPage {
    /// The settings of the page.
    package struct Options: Sendable {
        /// The name of the capture, shown in the page's title.
        package var name: String
        package var columns: [ConnectionColumn]
        /// The order of the flows; `nil` for the order in which they were captured.
        package var order: ConnectionOrder?
        /// The version of tcpprobe, shown on the page.
        package var version: String
        /// Whether the records contain decrypted TLS data.
        package var isDecrypted: Bool
        /// Whether flows with findings come first, and the table shows these findings.
        package var isDiagnosis: Bool

        package init(
            name: String, columns: [ConnectionColumn] = ConnectionColumn.standard, order: ConnectionOrder? = nil,
            version: String = "", isDecrypted: Bool = false, isDiagnosis: Bool = false
        ) {
            self.name = name
            self.columns = columns
            self.order = order
            self.version = version
            self.isDecrypted = isDecrypted
            self.isDiagnosis = isDiagnosis
        }
    }

    /// The maximum number of flows that are shown in full. The table has at most `maxRows` flows.
    package static let maxFlows = 50
    package static let maxRows = 5000

    private let inspection: Inspection
    private let filter: ConnectionFilter
    private let options: Options
    private let records: [Int: FlowRecord]
    /// The diagnosis of the capture; `nil` if it was not diagnosed.
    private let report: DiagnosisReport?
    /// The diagnosis of each flow, by flow number.
    private let diagnoses: [Int: FlowDiagnosis]
    /// Remarks about individual flows, by flow number.
    private let remarks: [Int: String]
    /// The numbers of the flows, in the order in which the page shows them.
    private let numbers: [Int]

    package init(
        _ inspection: Inspection, filter: ConnectionFilter, options: Options, records: [Int: FlowRecord],
        report: DiagnosisReport? = nil, remarks: [Int: String] = [:]
    ) {
        self.inspection = inspection
        self.filter = filter
        self.options = options
        self.records = records
        self.remarks = remarks
        self.report = report
        diagnoses = Dictionary(uniqueKeysWithValues: report?.flows.map { ($0.number, $0) } ?? [])
        numbers = Self.numbers(inspection, filter, options.order, worst: options.isDiagnosis ? report : nil)
    }

    /// Returns the numbers of the flows that the filter includes, in the order in which the page shows them.
    ///
    /// - Parameter report: the diagnosis whose worst flows come first; `nil` if the diagnosis does not affect the order.
    package static func numbers(
        _ inspection: Inspection, _ filter: ConnectionFilter, _ order: ConnectionOrder?,
        worst report: DiagnosisReport? = nil
    ) -> [Int] {
        let conversations = inspection.analysis.table.conversations
        let numbers = conversations.indices.filter { filter.includes($0, of: conversations) }
        let ordered = order?.sorted(numbers, of: conversations, inspection.timings) ?? numbers
        guard let report else { return ordered }
        let first = report.first.map(\.number)
        let others = Set(ordered).subtracting(first)
        return first + ordered.filter { others.contains($0) }
    }

    /// The HTML document in UTF-8.
    package var bytes: [UInt8] {
        PageFrame.document(title: "\(options.name): TCP flows", styles: [.flows]) { body in
            body += header
            body.append("main") { main in
                let findings = FindingMarkup(linked: linked)
                if let report, !report.shared.isEmpty {
                    main += findings.section(report.shared, shown: Set(shown))
                }
                main += table
                for number in shown {
                    guard let record = records[number] else { continue }
                    main +=
                        FlowSection(
                            report: inspection.report(number), record: record, remark: remarks[number],
                            isDecrypted: options.isDecrypted, diagnosis: diagnoses[number], findings: findings
                        ).html
                }
            }
            body += footer
        }
    }

    /// The numbers of the flows that are shown in full.
    private var shown: [Int] { numbers.filter { records[$0] != nil } }

    /// The numbers of the packets that findings cite and that a ladder on the page shows.
    private var linked: Set<Int> {
        guard let report else { return [] }
        let evidence = report.evidence(of: Set(shown))
        let packets = shown.lazy.flatMap { records[$0]?.rungs ?? [] }.map(\.rung.packet.number)
        return Set(packets.filter { evidence.contains($0) })
    }

    private var header: HTMLText {
        var alarms = HTMLText.empty
        if let problem = inspection.problem {
            alarms += PageFrame.alarm("\(problem). Everything that was read before the problem is shown below.")
        }
        if let unfollowed = inspection.unfollowed(filter) { alarms += PageFrame.alarm(unfollowed) }
        let summary = ConnectionTableText.summary(inspection, shown: numbers.count)
        let facts = [summary] + (report.map { [DiagnosisText.sentence($0)] } ?? [])
        return PageFrame.header(options.name, facts: facts, alarms)
    }

    private var footer: HTMLText {
        let version = options.version.isEmpty ? "" : ", tcpprobe \(options.version)"
        let command = options.isDiagnosis ? "diagnose" : "inspect"
        return .element("footer", [:], .element("p", [:], "Written by tcpprobe \(command) --html\(version)."))
    }

    // MARK: The table

    private var table: HTMLText {
        let conversations = inspection.analysis.table.conversations
        var rows: HTMLText = .empty
        for number in numbers.prefix(Self.maxRows) {
            let counts =
                number < inspection.anomalies.count ? inspection.anomalies[number] : ConnectionAnomalies()
            var cells: HTMLText = .empty
            for column in options.columns {
                var bytes: [UInt8] = []
                column.append(conversations[number], counts, inspection.timing(number), to: &bytes)
                let text = HTMLText.text(String(decoding: bytes, as: UTF8.self))
                let isLink = column == options.columns.first && records[number] != nil
                let content =
                    isLink
                    ? HTMLText.element(
                        "a", ["href": "#\(FlowSection.anchor(number))", "aria-label": "Flow \(number)"], text) : text
                cells += .element(
                    "td",
                    ["role": "cell", "class": column.isRightAligned ? "right" : "left", "data-label": column.title],
                    content)
            }
            if options.isDiagnosis {
                cells += .element(
                    "td", ["role": "cell", "class": "left", "data-label": "finding"], findings(of: number))
            }
            rows += .element("tr", ["role": "row"], cells) + .newline
        }
        var content: HTMLText = .element("h2", ["id": "flows"], "Flows")
        content += .element("p", ["class": "soft"], extent)
        guard !numbers.isEmpty else { return .element("section", ["aria-labelledby": "flows"], content) }
        var heads = options.columns.map { column in
            HTMLText.element(
                "th",
                ["scope": "col", "role": "columnheader", "class": column.isRightAligned ? "right" : "left"],
                column.title)
        }.joined
        if options.isDiagnosis {
            heads += .element("th", ["scope": "col", "role": "columnheader", "class": "left"], "finding")
        }
        content += .element(
            "table", ["class": "flows", "role": "table"],
            .element("caption", [:], "Flows in the capture; each number links to its flow"),
            .element("thead", ["role": "rowgroup"], .element("tr", ["role": "row"], heads)),
            .element("tbody", ["role": "rowgroup"], rows))
        return .element("section", ["aria-labelledby": "flows"], content)
    }

    /// Returns the most serious finding of a flow in a few words, such as `problem: zero-window and 2 more`.
    private func findings(of number: Int) -> String {
        guard let findings = diagnoses[number]?.findings, let first = findings.first else { return "" }
        let more = findings.count > 1 ? " and \(findings.count - 1) more" : ""
        return "\(first.severity.rawValue): \(first.id.rawValue)\(more)"
    }

    /// A sentence that states which flows are shown in full, and which flows are shown only in the table.
    private var extent: String {
        if numbers.isEmpty {
            return inspection.analysis.table.conversations.isEmpty
                ? "The capture contains no TCP flows."
                : "No flow in the capture matches the filter: \(filter.text)."
        }
        let full = shown.count
        if full == numbers.count { return "Each flow is shown in full below." }
        var text = "\(NumberText.count(full, "flow")) \(full == 1 ? "is" : "are") shown in full below"
        text += ", the other \(NumberText.text(numbers.count - full)) only in this table"
        if numbers.count > Self.maxRows {
            text += ", which ends after \(NumberText.count(Self.maxRows, "row"))"
        }
        let choices = options.isDiagnosis ? "--flow, --port and --with" : "--flow, --port, --with and --sort"
        return text + ". Use \(choices) to choose other flows."
    }
}
