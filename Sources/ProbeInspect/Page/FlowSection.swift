import ProbeBase
import ProbeDiagnose
import ProbeReport
import ProbeWire

/// The section of the page about one flow. It contains the diagnosis, facts, the data that the two sides exchanged, the
/// two graphs and the ladder.
struct FlowSection {
    let report: ConnectionReport
    let record: FlowRecord
    /// A remark at the top of the section, for example that the flow could not be decrypted.
    let remark: String?
    /// Whether decrypted TLS data is shown.
    let isDecrypted: Bool
    /// The diagnosis of the flow; `nil` if it was not diagnosed.
    let diagnosis: FlowDiagnosis?
    let findings: FindingMarkup

    private var conversation: Conversation { report.conversation }

    /// Returns the id of a flow's section.
    static func anchor(_ number: Int) -> String { "flow-\(number)" }

    private var id: String { Self.anchor(report.number) }

    var html: HTMLText {
        let title: HTMLText =
            .text("Flow \(report.number) ")
            + .element(
                "small", [:], .text("\(conversation.client)"), .element("span", ["class": "to"], " to "),
                .text("\(conversation.server)"))
        var parts: HTMLText = .element("h2", ["id": "\(id)-h"], title)
        if let diagnosis {
            parts += findings.html(diagnosis)
            if let bar = BudgetBar(diagnosis, id: "\(id)-b") { parts += bar.html }
            parts += .element("h3", [:], "Facts")
        }
        parts += facts
        if let remark { parts += PageFrame.alarm(remark) }
        parts += exchangedData + graphs + ladder
        parts += .element("p", ["class": "back"], .element("a", ["href": "#flows"], "All flows"))
        return .element("section", ["class": "flow", "id": id, "aria-labelledby": "\(id)-h"], parts) + .newline
    }

    // MARK: Facts

    private var facts: HTMLText {
        var items: [(String, String)] = [
            ("Packets", NumberText.text(conversation.packetCount)),
            ("Duration", DurationText.text(nanoseconds: report.duration)),
        ]
        var handshake = report.handshake.rawValue
        if let trip = conversation.handshakeRoundTrip {
            handshake += ", round trip \(DurationText.text(nanoseconds: trip))"
        }
        items.append(("Handshake", handshake))
        items.append(("Closed", report.closeText))
        for side in ConversationSide.allCases {
            items.append(("The \(side.word) sent", sent(side)))
            if let window = window(side) { items.append(("Window of the \(side.word)", window)) }
        }
        var list = items.map { item in
            HTMLText.element("div", [:], .element("dt", [:], item.0), .element("dd", [:], item.1))
        }.joined
        let findings =
            report.anomalies.isEmpty
            ? HTMLText.text("none")
            : report.anomalies.map { HTMLText.element("span", ["class": "finding"], $0.text) }.joined
        list += .element("div", [:], .element("dt", [:], "Anomalies"), .element("dd", [:], findings))
        if !record.errors.isEmpty {
            let lines = record.errors.map { HTMLText.element("div", [:], $0) }.joined
            list += .element("div", [:], .element("dt", [:], "ICMP"), .element("dd", [:], lines))
        }
        return .element("dl", ["class": "properties"], list)
    }

    private func sent(_ side: ConversationSide) -> String {
        let half = conversation.halfConnection(from: side)
        let captured = half.stream.deliveredLength
        let text = NumberText.count(Int(clamping: half.sentLength), "byte")
        return half.sentLength > captured
            ? "\(text), \(NumberText.text(Int(clamping: captured))) of them captured" : text
    }

    private func window(_ side: ConversationSide) -> String? {
        let window = conversation.halfConnection(from: side).window
        guard let smallest = window.smallest, let largest = window.largest else { return nil }
        let range =
            smallest == largest
            ? NumberText.text(smallest) : "\(NumberText.text(smallest)) to \(NumberText.text(largest))"
        return range + (window.hasUnknownScale ? " (scale not captured)" : "")
    }

    // MARK: Exchanged data

    private var exchangedData: HTMLText {
        var lines = record.lines.map { line in
            HTMLText.element(
                "li", ["class": line.side.word], .element("b", [:], line.side.word), .text(" "),
                .element("code", [:], line.text))
        }.joined
        if record.lines.isEmpty { lines = .element("li", ["class": "more"], "No data.") }
        if record.hasMoreLines {
            let command = "inspect --follow \(report.number)" + (isDecrypted ? " --decrypt" : "")
            lines += .element("li", ["class": "more"], "The streams continue; \(command) shows them in full.")
        }
        return .element("h3", [:], "How the streams begin") + .element("ol", ["class": "said"], lines)
    }

    // MARK: Graphs

    private var graphs: HTMLText {
        let drawn = [
            (record.fromClient, "client to server", "c"), (record.fromServer, "server to client", "s"),
        ].map { trace, direction, suffix in
            let graph = TimeSequenceGraph(trace, direction: direction, id: "\(id)-\(suffix)", pauses: record.pauses)
            var caption: HTMLText = .element("strong", [:], direction) + .text(": \(trace.summary).")
            for note in graph.notes { caption += .text(" " + note) }
            return HTMLText.element(
                "figure", ["class": "graph"], graph.svg, .element("figcaption", [:], caption), graph.legend)
        }.joined
        return .element("h3", [:], "Time and sequence numbers") + .element("div", ["class": "graphs"], drawn)
    }

    // MARK: The ladder

    private var ladder: HTMLText {
        let rungs = record.rungs
        var rows: HTMLText = .empty
        for (omitted, rung) in rungs {
            if omitted > 0 { rows += omission(omitted) }
            rows += row(rung)
        }
        let left = record.packetCount - rungs.count
        let shown =
            left == 0
            ? NumberText.count(rungs.count, "packet")
            : "\(NumberText.text(rungs.count)) of \(NumberText.count(record.packetCount, "packet"))"
        let caption =
            "Ladder of flow \(report.number), from top to bottom: \(shown), client on the left, server on the right"
        let head: HTMLText = .element(
            "thead", ["role": "rowgroup"],
            .element(
                "tr", ["role": "row"], Self.heading("Packet"), Self.heading("Seconds"),
                .element(
                    "th", ["scope": "col", "role": "columnheader", "class": "ends"],
                    .element("span", [:], "\(conversation.client)"),
                    .element("span", [:], "\(conversation.server)"))))
        let table: HTMLText = .element(
            "table", ["class": "ladder", "role": "table"], .element("caption", [:], caption), head,
            .element("tbody", ["role": "rowgroup"], rows))
        var attributes: HTMLAttributes = ["class": "rungs"]
        if rungs.count <= 60 { attributes.append("open", "") }
        return .element("h3", [:], "Ladder") + .element("details", attributes, .element("summary", [:], shown), table)
    }

    private static func heading(_ text: String) -> HTMLText {
        .element("th", ["scope": "col", "role": "columnheader"], text)
    }

    private func omission(_ count: Int) -> HTMLText {
        .element(
            "tr", ["role": "row", "class": "more"],
            .element("td", ["colspan": "3", "role": "cell"], "… \(NumberText.count(count, "packet")) omitted"))
    }

    private func row(_ rung: FlowRecord.Rung) -> HTMLText {
        let isClient = rung.packet.summary.side == .client
        var words: HTMLText =
            .element("span", ["class": "from"], isClient ? "client to server: " : "server to client: ")
            + .element("code", [:], rung.words)
        let marks = rung.marks
        for mark in marks { words += .text(" ") + .element("span", ["class": "finding"], mark) }
        var cell: HTMLText = .element("div", ["class": "arrow"], words)
        for comment in rung.comments { cell += .element("div", ["class": "comment"], comment) }
        let isOdd = marks.contains { $0 != "window update" && !$0.hasPrefix("SACK") }
        let kind = (isClient ? "client" : "server") + (isOdd ? " odd" : rung.isTurn ? " turn" : "")
        let number = rung.packet.number
        return .element(
            "tr",
            [
                "role": "row", "class": kind,
                "id": findings.linked.contains(number) ? FindingMarkup.anchor(packet: number) : nil,
            ],
            .element("td", ["role": "cell"], "\(number)"),
            .element("td", ["role": "cell"], DurationText.seconds(rung.time)),
            .element("td", ["role": "cell"], cell)) + .newline
    }
}
