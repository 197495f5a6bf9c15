import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests of the complete output that users see.
@Suite struct InspectOutputTests {
    @Test func tableMatchesGoldenText() throws {
        let collected = Collected()
        for capture in [CaptureBuilder.greeting, CaptureBuilder.troubled] {
            let inspection = try inspect(capture)
            ConnectionTableText.write(
                inspection.analysis.table.conversations, inspection.anomalies, to: collected.output)
        }
        #expect(
            collected.text == """
                flow  client           server        packets  client bytes  server bytes  duration  handshake  close                   anomalies
                   0  127.0.0.1:40000  127.0.0.1:25       10             6            11  60.09 ms  complete   server FIN, client FIN
                flow  client           server        packets  client bytes  server bytes  duration  handshake  close       anomalies
                   0  127.0.0.1:40001  127.0.0.1:80        7            16             0     60 us  complete   server RST  1 retransmission, 5 missing bytes
                   1  127.0.0.1:40002  127.0.0.1:81        2             0             0     10 us  refused    server RST

                """)
    }

    @Test func summaryReportsDrops() throws {
        var capture = CaptureBuilder()
        capture.drop(3)
        let none = try inspect(capture.bytes)
        #expect(
            ConnectionTableText.summary(none, shown: 0)
                == "0 flows, 0 packets; the capture dropped 3 packets, which may explain gaps")
        let some = try inspect(CaptureBuilder.troubled)
        #expect(ConnectionTableText.summary(some, shown: 1) == "1 of 2 flows, 9 packets")
    }

    /// The output states which limits were reached.
    @Test func reachedLimitIsReported() throws {
        var limits = ConversationLimits.counting
        limits.maxConversations = 1
        let few = try inspect(CaptureBuilder.troubled, limits: limits)
        #expect(
            ConnectionTableText.summary(few, shown: 1)
                == "1 flow, 9 packets; 2 packets of later flows not followed, because there are too many flows")
        #expect(InspectJSON.summary(few, file: "b").contains("\"unfollowed\":2,\"memoryUsedUp\":false"))
        var little = ConversationLimits.counting
        little.totalBytes = 1
        let kept = try inspect(CaptureBuilder.troubled, limits: little)
        #expect(ConnectionTableText.summary(kept, shown: 2).contains("; memory for data after gaps was used up"))
        #expect(InspectJSON.summary(kept, file: "b").contains("\"unfollowed\":0,\"memoryUsedUp\":true"))
    }

    @Test func ladderMatchesGoldenText() throws {
        let collected = Collected()
        let observer = LadderObserver(width: 100, output: collected.output)
        let inspection = try inspect(CaptureBuilder.greeting, observer: observer)
        let report = try #require(inspection.reports(ConnectionFilter()).first)
        #expect(
            collected.text + LadderObserver.footer(report) == """
                packet      seconds  127.0.0.1:40000                          127.0.0.1:25
                     1     0.000000  |S seq 0 win 512 ---------------------------------->|
                     2     0.000010  |<--------------------------- S. seq 0 ack 1 win 512|
                     3     0.000020  |. seq 1 ack 1 win 512 ---------------------------->|
                     4     0.000030  |<----------- P. seq 1 ack 1 win 512 len 7 "220 rea"|  crlf.scn:11 S send "220…
                     5     0.030040  |<-------------- P. seq 8 ack 1 win 512 len 3 "dy\\r"|
                     6     0.060050  |<--------------- P. seq 11 ack 1 win 512 len 1 "\\n"|
                     7     0.060060  |P. seq 1 ack 12 win 512 len 6 "QUIT\\r\\n" --------->|
                     8     0.060070  |<-------------------------- F. seq 12 ack 7 win 512|
                     9     0.060080  |F. seq 7 ack 13 win 512 -------------------------->|
                    10     0.060090  |<--------------------------- . seq 13 ack 8 win 512|
                10 packets in 60.09 ms; the client sent 6 bytes, the server 11 bytes
                handshake complete; closed: server FIN, client FIN

                """)
    }

    /// If the width is small, payloads are shortened, but anomalies never are.
    @Test(arguments: [40, 60, 80, 120, 300])
    func anomaliesAreShownAtEveryWidth(width: Int) throws {
        let collected = Collected()
        _ = try inspect(CaptureBuilder.troubled, observer: LadderObserver(width: width, output: collected.output))
        #expect(collected.text.contains("[retransmission]") || collected.text.contains("[spurious retransmission]"))
    }

    /// The output contains no control bytes and no characters that change the text direction, even if the capture does.
    @Test func outputHasNoInvisibleCharacters() throws {
        let collected = Collected()
        let output = collected.output
        _ = try inspect(CaptureBuilder.troubled, observer: LadderObserver(width: 200, output: output))
        _ = try inspect(
            CaptureBuilder.troubled, limits: .deliveringParts, observer: FollowObserver(output: output))
        let text = MessageText(framing: .lf, width: 120, output: output)
        _ = try inspect(
            CaptureBuilder.troubled, limits: .deliveringParts,
            observer: MessageObserver(framing: .lf) { text.write($0, $1, $2) })
        _ = try inspect(CaptureBuilder.troubled, observer: JSONObserver(.packets, file: "\u{1b}[1m", output: output))
        _ = try inspect(
            CaptureBuilder.troubled, limits: .deliveringParts, observer: JSONObserver(.parts, file: "f", output: output)
        )
        #expect(collected.text.contains("\\x1b[31m"))
        for scalar in collected.text.unicodeScalars where scalar != "\n" {
            #expect(scalar.value >= 0x20 && scalar.value != 0x7f && scalar != "\u{202e}")
        }
    }

    @Test func bothSidesAreShownInOrder() throws {
        let collected = Collected()
        _ = try inspect(
            CaptureBuilder.greeting, limits: .deliveringParts, observer: FollowObserver(output: collected.output))
        _ = try inspect(
            CaptureBuilder.troubled, limits: .deliveringParts, filter: ConnectionFilter(number: 0),
            observer: FollowObserver(output: collected.output))
        #expect(
            collected.text == """
                server  "220 ready\\r\\n"
                client  "QUIT\\r\\n"
                client  "GET \\x1b[31m\\n"
                client  (5 bytes at offset 10 missing from the capture)
                client  "tail\\r\\n"

                """)
    }

    @Test func messagesAreShownWithTheirCuts() throws {
        let collected = Collected()
        let text = MessageText(framing: .crlf, width: 100, output: collected.output)
        for capture in [CaptureBuilder.greeting, CaptureBuilder.troubled] {
            _ = try inspect(
                capture, limits: .deliveringParts, observer: MessageObserver(framing: .crlf) { text.write($0, $1, $2) })
        }
        #expect(
            collected.text == """
                flow 0  127.0.0.1:40000 -> 127.0.0.1:25
                from    message    offset   bytes  segments  terminator
                server        1         0      11         3  CRLF        "220 rea" | "dy\\r" | "\\n"
                client        1         0       6         1  CRLF        "QUIT\\r\\n"
                client        1         0      10         1  unfinished  "GET \\x1b[31m\\n"
                client  (5 bytes at offset 10 missing from the capture)
                client        2        15       6         1  CRLF        "tail\\r\\n"

                """)
    }

    @Test func jsonHasEveryPacket() throws {
        let collected = Collected()
        _ = try inspect(
            CaptureBuilder.greeting, observer: JSONObserver(.packets, file: "a.pcapng", output: collected.output))
        let lines = collected.text.split(separator: "\n")
        #expect(lines.count == 10)
        #expect(
            lines[3] == """
                {"version":1,"type":"packet","file":"a.pcapng","flow":0,"packet":4,"time":1700000000000030000,\
                "from":"server","flags":"P.","sequence":1,"acknowledgment":1,"window":512,"windowScaled":true,"length":7,\
                "payload":"220 rea","base64":"MjIwIHJlYQ==","marks":[],"comments":["crlf.scn:11 S send \\"220 rea\\""]}
                """)
        let inspection = try inspect(CaptureBuilder.troubled)
        let flow = InspectJSON.flow(try #require(inspection.reports(ConnectionFilter()).first), file: "b")
        #expect(flow.contains("\"gaps\":[{\"offset\":10,\"length\":5,\"cause\":\"not-captured\"}]"))
        #expect(flow.contains("\"closes\":[{\"by\":\"server\",\"with\":\"RST\",\"packet\":7,"))
        #expect(
            InspectJSON.summary(inspection, file: "b") == """
                {"version":1,"type":"summary","file":"b","packets":9,"excluded":0,"tcpPackets":9,"undecodable":0,"unread":0,\
                "others":[],"flows":2,\
                "unfollowed":0,"memoryUsedUp":false,"dropped":0,"complete":true}

                """)
    }
}
