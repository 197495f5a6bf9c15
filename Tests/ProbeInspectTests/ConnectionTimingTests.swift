import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests which side is considered to have waited for the other side, and for how long.
@Suite struct ConnectionTimingTests {
    private func timing(_ build: (inout CaptureBuilder, inout CaptureBuilder.Connection) -> Void) throws -> Inspection {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        build(&capture, &connection)
        let folder = try TemporaryFolder()
        let path = try folder.write("capture", capture.bytes)
        return Inspection.of(try CaptureSource(path: path), measures: true)
    }

    private func milliseconds(_ nanoseconds: Int64?) -> Int64? { nanoseconds.map { $0 / 1_000_000 } }

    /// An acknowledgment between request and response is not a response, and does not end the server's silence.
    @Test func responseTimeStartsAtTheEndOfTheRequest() throws {
        let inspection = try timing { capture, connection in
            capture.send(&connection, .client, "POST / ")
            capture.wait(milliseconds: 300)
            capture.send(&connection, .client, "HTTP/1.1\r\n\r\n")
            capture.wait(milliseconds: 40)
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 460)
            capture.send(&connection, .server, "HTTP/1.1 200 OK\r\n\r\n")
        }
        let timing = try #require(inspection.timing(0))
        #expect(milliseconds(timing.firstByte) == 500)
        #expect(milliseconds(timing.longestPause?.duration) == 500 && timing.longestPause?.silent == .server)
        let start = try #require(inspection.report(0).conversation.firstTime)
        #expect(timing.lastHeard(.client).map { ($0 - start) / 1_000_000 } == 300)
        #expect(timing.lastHeard(.server).map { ($0 - start) / 1_000_000 } == 800)
    }

    /// A greeting that precedes the first request is not a response.
    @Test func responseNeedsARequest() throws {
        let inspection = try timing { capture, connection in
            capture.send(&connection, .server, "220\r\n")
            capture.wait(milliseconds: 900)
            capture.send(&connection, .client, "QUIT\r\n")
            capture.wait(milliseconds: 20)
            capture.send(&connection, .server, "221\r\n")
        }
        let timing = try #require(inspection.timing(0))
        #expect(milliseconds(timing.firstByte) == 20)
        #expect(timing.longestPause?.silent == .client && milliseconds(timing.longestPause?.duration) == 900)
    }

    /// A side that retransmits an unanswered request, or gives up, is not considered silent.
    @Test(arguments: [false, true])
    func retransmittingSideIsNotSilent(gaveUp: Bool) throws {
        let inspection = try timing { capture, connection in
            capture.send(&connection, .client, "GET")
            for delay in [200, 400, 800] as [UInt64] {
                capture.wait(milliseconds: delay)
                capture.packet(connection, .client, flags: 0x18, payload: Array("GET".utf8), skew: -3)
            }
            if gaveUp { capture.packet(connection, .client, flags: 0x04) }
        }
        let timing = try #require(inspection.timing(0))
        #expect(timing.firstByte == nil && timing.longestPause?.silent == .server)
        #expect(milliseconds(timing.longestPause?.duration) == 1_400)
    }

    /// A server that closes an idle connection was waiting for the client.
    @Test func closingSideWasWaiting() throws {
        let inspection = try timing { capture, connection in
            capture.send(&connection, .client, "GET")
            capture.send(&connection, .server, "200")
            capture.wait(milliseconds: 60_000)
            capture.packet(connection, .server, flags: 0x11)
        }
        #expect(try #require(inspection.timing(0)).longestPause?.silent == .client)
    }

    @Test func timingsAreInColumnsOrderAndJSON() throws {
        let inspection = try timing { capture, connection in
            capture.send(&connection, .client, "GET")
            capture.wait(milliseconds: 250)
            capture.send(&connection, .server, "200")
            capture.wait(milliseconds: 10)
            let other = CaptureBuilder.Connection(client: 40_001, server: 80)
            capture.packet(other, .client, flags: 0x02, skew: -1)
        }
        let collected = Collected()
        let style = ConnectionTableText.Style(
            columns: [.flow, .firstByte, .longestPause, .lastHeard], order: .longestPause)
        ConnectionTableText.write(
            inspection.analysis.table.conversations, inspection.anomalies, timings: inspection.timings, style: style,
            to: collected.output)
        #expect(
            collected.text == """
                flow  first byte  longest pause  last heard
                   0      250 ms  250 ms server  client 30 us, server 250 ms
                   1           -  -              client 0 ns

                """)
        let line = InspectJSON.flow(inspection.report(0), timing: inspection.timing(0), file: "a")
        #expect(
            line.contains("\"firstByte\":250010000,\"longestPause\":{\"duration\":250010000,\"silent\":\"server\"}"))
        #expect(InspectJSON.flow(inspection.report(0), file: "a").contains("firstByte") == false)
        #expect(ConnectionColumn.allCases.filter(\.isTiming).count == 3)
    }
}
