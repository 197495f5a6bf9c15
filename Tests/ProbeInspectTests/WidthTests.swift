import ProbeBase
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests that all output with columns respects the requested width for every capture.
@Suite struct WidthTests {
    private static let widths = [40, 60, 80, 200]

    private static let captures: [[UInt8]] =
        [CaptureBuilder.greeting, CaptureBuilder.troubled, CaptureBuilder.snapped]
        + (1...3).map { RandomCapture(seed: $0, segments: 500, connections: 10).bytes }

    @Test(arguments: widths, captures.indices)
    func tableFitsTheWidth(width: Int, number: Int) throws {
        let inspection = try inspect(Self.captures[number])
        for columns in [ConnectionColumn.standard, ConnectionColumn.allCases, [.anomalies, .server]] {
            let collected = Collected()
            let style = ConnectionTableText.Style(columns: columns, width: width, order: .bytes)
            let count = ConnectionTableText.write(
                inspection.analysis.table.conversations, inspection.anomalies, style: style, to: collected.output)
            collected.output(ConnectionTableText.summary(inspection, shown: count, width: width) + "\n")
            expectWidth(width, collected.text)
            // The output contains the contents of every cell, although lines may be wrapped.
            let words = collected.text.filter { !$0.isWhitespace }
            for report in inspection.reports(ConnectionFilter()) {
                #expect(words.contains("\(report.conversation.server)"))
                for anomaly in report.anomalies { #expect(words.contains(anomaly.text.filter { $0 != " " })) }
            }
        }
    }

    @Test(arguments: widths, captures.indices)
    func laddersFitTheWidth(width: Int, number: Int) throws {
        let collected = Collected()
        let inspection = try inspect(
            Self.captures[number], observer: LadderObserver(width: width, output: collected.output))
        for report in inspection.reports(ConnectionFilter()) {
            collected.output(LadderObserver.footer(report, width: width))
        }
        _ = try inspect(Self.captures[number], observer: WatchObserver(width: width, output: collected.output))
        expectWidth(width, collected.text)
        // In ladders and in the output of `watch`, each packet begins on a new line.
        let packets = inspection.analysis.tcpPacketCount - inspection.analysis.undecodableCount
        #expect(collected.text.split(separator: "\n").count >= 2 * packets / 2)
    }

    @Test(arguments: widths, captures.indices)
    func messagesFitTheWidth(width: Int, number: Int) throws {
        for framing in [Framing.crlf, .u16, .none, .netstring, .delimiter([69, 78, 68]), .websocket] {
            let collected = Collected()
            let text = MessageText(framing: framing, width: width, output: collected.output)
            _ = try inspect(
                Self.captures[number], limits: .deliveringParts,
                observer: MessageObserver(framing: framing) { text.write($0, $1, $2) })
            expectWidth(width, collected.text)
        }
    }

    @Test(arguments: widths, captures.indices)
    func dumpsFitTheWidth(width: Int, number: Int) throws {
        let collected = Collected()
        _ = try inspect(
            Self.captures[number], limits: .deliveringParts,
            observer: FollowObserver(form: .hex, width: width, output: collected.output))
        for line in collected.text.split(separator: "\n") where line.hasPrefix("  ") { #expect(line.count <= width) }
    }

    /// Color does not affect the width, and does not change the text.
    @Test(arguments: captures.indices)
    func colourDoesNotChangeTheText(number: Int) throws {
        let (plain, coloured) = (Collected(), Collected())
        for (paint, collected) in [(Paint.plain, plain), (Paint(isOn: true), coloured)] {
            let inspection = try inspect(
                Self.captures[number], observer: LadderObserver(width: 80, paint: paint, output: collected.output))
            ConnectionTableText.write(
                inspection.analysis.table.conversations, inspection.anomalies,
                style: ConnectionTableText.Style(width: 80, paint: paint), to: collected.output)
        }
        #expect(coloured.text != plain.text)
        var text = ""
        var rest = coloured.text[...]
        while let escape = rest.firstIndex(of: "\u{1b}") {
            text += rest[..<escape]
            rest = rest[rest[escape...].firstIndex(of: "m")!...].dropFirst()
        }
        #expect(text + rest == plain.text)
    }

    /// A column that does not fit is shown on an additional line below its row.
    @Test func narrowTableMatchesGoldenText() throws {
        let collected = Collected()
        let inspection = try inspect(CaptureBuilder.troubled)
        ConnectionTableText.write(
            inspection.analysis.table.conversations, inspection.anomalies,
            style: ConnectionTableText.Style(width: 60), to: collected.output)
        #expect(
            collected.text == """
                flow  client           server        packets  client bytes
                      server bytes  duration  handshake  close
                      anomalies
                   0  127.0.0.1:40001  127.0.0.1:80        7            16
                                 0     60 us  complete   server RST
                      1 retransmission, 5 missing bytes
                   1  127.0.0.1:40002  127.0.0.1:81        2             0
                                 0     10 us  refused    server RST

                """)
    }

    private func expectWidth(_ width: Int, _ text: String) {
        let widest = text.split(separator: "\n").max { Columns.width(String($0)) < Columns.width(String($1)) } ?? ""
        #expect(Columns.width(String(widest)) <= width, "\(widest)")
    }
}
