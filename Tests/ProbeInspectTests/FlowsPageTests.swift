import ProbeBase
import ProbeWire
import Testing

@testable import ProbeInspect

/// Tests of the complete page that `inspect --html` writes.
@Suite struct FlowsPageTests {
    @Test func pageHasEachFlowAndIsSelfContained() throws {
        let page = try page(CaptureBuilder.troubled)
        #expect(page.contains("<title>a&lt;b&gt;.pcap: TCP flows</title>"))
        #expect(page.contains("<h2 id=\"flow-0-h\">Flow 0 "))
        #expect(page.contains("<section class=\"flow\" id=\"flow-1\""))
        // Bytes and comments from the capture are escaped, so that they can't act as markup or control characters.
        #expect(!page.contains("\u{1b}") && !page.contains("\u{202e}"))
        #expect(page.contains("GET \\x1b[31m\\n"))
        #expect(page.contains("evil \\x1b[2J\\u{202e}comment"))
        for word in ["<script", "http://", "https://", "src=", "@import", "url("] { #expect(!page.contains(word)) }
    }

    @Test func eachLinkHasItsTarget() throws {
        let page = try page(CaptureBuilder.troubled)
        let ids = page.matches(of: /\sid="([^"]+)"/).map { String($0.output.1) }
        #expect(Set(ids).count == ids.count)
        for attribute in ["href=\"#", "aria-labelledby=\"", "aria-describedby=\""] {
            for part in page.components(after: attribute) {
                #expect(ids.contains(part), "\(attribute)\(part)")
            }
        }
        #expect(page.contains("<a href=\"#flow-1\" aria-label=\"Flow 1\">1</a>"))
    }

    @Test func graphsHaveTextAlternatives() throws {
        let page = try page(CaptureBuilder.greeting)
        #expect(page.components(after: "role=\"img\" aria-labelledby=\"") == ["flow-0-c-t", "flow-0-s-t"])
        #expect(page.contains("<title id=\"flow-0-s-t\">Time and sequence numbers, server to client</title>"))
        #expect(
            page.contains(
                "<caption>Ladder of flow 0, from top to bottom: 10 packets, client on the left, server on the right</caption>"
            ))
        #expect(
            page.contains(
                "<span class=\"from\">server to client: </span><code>P. seq 1 ack 1 win 512 len 7 &quot;220 rea&quot;</code>"
            ))
        #expect(page.contains("<div class=\"comment\">crlf.scn:11 S send &quot;220 rea&quot;</div>"))
        #expect(page.contains("<li class=\"server\"><b>server</b> <code>&quot;220 ready\\r\\n&quot;</code></li>"))
    }

    @Test func emptyCaptureIsReported() throws {
        let page = try page(CaptureBuilder().bytes)
        #expect(page.contains("The capture contains no TCP flows."))
        #expect(!page.contains("<table"))
        let other = try self.page(CaptureBuilder.greeting, filter: ConnectionFilter(ports: [9]))
        #expect(other.contains("No flow in the capture matches the filter: port 9."))
    }

    @Test func laterFlowsAreOnlyInTheTable() throws {
        var capture = CaptureBuilder()
        for port in 1...70 as ClosedRange<UInt16> {
            var connection = CaptureBuilder.Connection(client: 40_000 + port, server: 25)
            capture.open(connection)
            capture.send(&connection, .client, String(repeating: "x", count: Int(port)))
        }
        let page = try page(capture.bytes)
        #expect(page.contains("50 flows are shown in full below, the other 20 only in this table."))
        #expect(page.components(after: "<section class=\"flow\" id=\"").count == 50)
        #expect(
            page.components(after: "<tr role=\"row\"><td role=\"cell\" class=\"right\" data-label=\"flow\">").count
                == 70)
        // The page shows the first flows in the order of the table.
        let sorted = try self.page(capture.bytes, order: .bytes)
        #expect(sorted.components(after: "<section class=\"flow\" id=\"").first == "flow-69")
        #expect(!sorted.contains("id=\"flow-3\""))
    }

    @Test func longLadderReportsOmissions() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        for index in 0..<1000 {
            capture.send(&connection, .client, "line \(index)\n")
            if index == 700 { capture.packet(connection, .client, flags: 0x18, payload: Array("700\n".utf8), skew: -4) }
        }
        capture.close(&connection)
        let observer = FlowsPageObserver(limit: 1)
        _ = try inspect(capture.bytes, limits: .deliveringParts, observer: observer)
        let rungs = try #require(observer.records[0]).rungs
        #expect(rungs.count < 160)
        #expect(rungs.reduce(0) { $0 + $1.omitted + 1 } == 1007)
        #expect(rungs.contains { $0.rung.marks.contains { $0.contains("retransmission") } })
        #expect(rungs.last?.rung.ordinal == 1006)
        let page = try page(capture.bytes)
        #expect(page.contains(" packets omitted</td>"))
        #expect(page.contains("The streams continue; inspect --follow 0 shows them in full."))
        #expect(page.utf8.count < 200_000)
    }

    @Test func damageIsReportedAtTheTop() throws {
        let page = try page(Array(CaptureBuilder.greeting.dropLast(9)))
        #expect(page.contains("<p class=\"alarm\">at byte "))
        #expect(page.contains("Everything that was read before the problem is shown below."))
    }

    private func page(
        _ capture: [UInt8], filter: ConnectionFilter = ConnectionFilter(), order: ConnectionOrder? = nil
    ) throws -> String {
        let inspection = try inspect(capture)
        var chosen = ConnectionFilter()
        chosen.numbers = Set(FlowsPage.numbers(inspection, filter, order).prefix(FlowsPage.maxFlows))
        let observer = FlowsPageObserver(limit: FlowsPage.maxFlows)
        _ = try inspect(capture, limits: .deliveringParts, filter: chosen, observer: observer)
        let page = FlowsPage(
            inspection, filter: filter, options: FlowsPage.Options(name: "a<b>.pcap", order: order),
            records: observer.records)
        return String(decoding: page.bytes, as: UTF8.self)
    }
}

extension String {
    /// Returns the text after each occurrence of `text`, up to the next quote or `<`.
    fileprivate func components(after text: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            rest = rest[range.upperBound...]
            found.append(String(rest.prefix { $0 != "\"" && $0 != "<" }))
        }
        return found
    }
}
