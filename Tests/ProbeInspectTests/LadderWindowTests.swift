import ProbeBase
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests of windows, SACK blocks and ICMP errors in a ladder.
@Suite struct LadderWindowTests {
    private func ladder(_ capture: CaptureBuilder, width: Int = 120) throws -> (text: String, inspection: Inspection) {
        let collected = Collected()
        let inspection = try inspect(capture.bytes, observer: LadderObserver(width: width, output: collected.output))
        return (collected.text, inspection)
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n").dropFirst().map(\.self) }

    @Test func dataThatFillsTheWindowIsMarked() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        capture.packet(connection, .server, flags: 0x10, window: 100)
        capture.send(&connection, .client, bytes: [UInt8](repeating: 97, count: 60))
        capture.send(&connection, .client, bytes: [UInt8](repeating: 98, count: 40))
        let found = lines(try ladder(capture).text)
        #expect(found.count == 6 && !found[4].contains("[window full]") && found[5].contains("[window full]"))
        #expect(found[3].contains("ack 1 win 100|"))
    }

    /// If the handshake was not captured, the scale is unknown, so the end of the window can't be determined.
    @Test func unscaledWindowHasAQuestionMark() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.send(&connection, .client, "GET")
        capture.packet(connection, .server, flags: 0x10, window: 3)
        capture.send(&connection, .client, "abc")
        capture.packet(connection, .server, flags: 0x14, window: 0)
        let found = lines(try ladder(capture).text)
        #expect(found[1].contains("win 3?") && !found[2].contains("window full") && !found[3].contains("win"))
        let json = Collected()
        _ = try inspect(capture.bytes, observer: JSONObserver(.packets, file: "a", output: json.output))
        #expect(json.text.contains("\"window\":3,\"windowScaled\":false"))
    }

    @Test func sackBlocksAreShown() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        capture.lose(&connection, .client, 5)
        capture.send(&connection, .client, "world")
        let block: [UInt8] = [1, 1, 5, 10, 0, 0, 3, 238, 0, 0, 3, 243]
        connection.clientSent = 0
        capture.packet(connection, .server, flags: 0x10, options: block)
        let found = try #require(lines(try ladder(capture).text).last)
        #expect(found.contains("SACK 6-11]"))
        let json = Collected()
        _ = try inspect(capture.bytes, observer: JSONObserver(.packets, file: "a", output: json.output))
        #expect(json.text.contains("\"sacks\":[[6,11]]"))
    }

    /// An ICMP error about a packet of a flow is shown as a line in the flow's ladder, counted as an anomaly, found by
    /// `--with`, and included in the JSON output.
    @Test(arguments: [40, 60, 120])
    func icmpErrorsAreInTheLadder(width: Int) throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        capture.send(&connection, .client, "hello")
        capture.icmp(about: connection, .client, type: 3, code: 4, value: 1_400, skew: -5)
        capture.icmp(about: CaptureBuilder.Connection(client: 9, server: 9), .client, type: 3, code: 1)
        let (text, inspection) = try ladder(capture, width: width)
        #expect(
            text.contains("ICMP") && text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("1400"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
        #expect(inspection.report(0).anomalies.map(\.text) == ["1 ICMP error"])
        #expect(inspection.analysis.others[.ip(1)] == 2)
        let criteria = ConnectionCriteria(traits: [.icmpErrors])
        #expect(criteria.applied(to: ConnectionFilter(), in: inspection).includes(inspection.report(0).conversation))
        let json = Collected()
        _ = try inspect(capture.bytes, observer: JSONObserver(.packets, file: "a", output: json.output))
        #expect(
            json.text.contains(
                "\"from\":\"10.0.0.9\",\"to\":\"client\",\"error\":\"fragmentation needed, MTU 1400\",\"sequence\":1"))
    }
}
