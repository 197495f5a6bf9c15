import Glibc
import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests of the selection and counting of flows after a capture has been read.
@Suite struct CriteriaTests {
    @Test(arguments: [
        (ConnectionTrait.rst, [0, 1]), (.fin, []), (.refused, [1]), (.retransmissions, [0]), (.missingBytes, [0]),
        (.anomalies, [0]), (.open, []), (.keepAlives, []),
    ])
    func traitsSelectFlows(trait: ConnectionTrait, numbers: [Int]) throws {
        let inspection = try inspect(CaptureBuilder.troubled)
        let filter = ConnectionCriteria(traits: [trait]).applied(to: ConnectionFilter(), in: inspection)
        #expect(inspection.reports(filter).map(\.number) == numbers)
        #expect(filter.text == "flow with \(trait.rawValue)")
    }

    /// A flow that has at least one of the traits is included if the other filters also include the flow.
    @Test func criteriaAreCombined() throws {
        let inspection = try inspect(CaptureBuilder.troubled)
        let criteria = ConnectionCriteria(traits: [.refused, .retransmissions])
        #expect(inspection.count(criteria.applied(to: ConnectionFilter(), in: inspection)) == 2)
        #expect(inspection.count(criteria.applied(to: ConnectionFilter(ports: [81]), in: inspection)) == 1)
    }

    @Test func everyAnomalyIsATrait() throws {
        for seed in 1...4 {
            let inspection = try inspect(RandomCapture(seed: UInt64(seed), segments: 2_000).bytes)
            for report in inspection.reports(ConnectionFilter()) {
                for anomaly in report.anomalies { #expect(ConnectionTrait(rawValue: anomaly.id) != nil) }
            }
        }
    }

    @Test func ordersSortByTheirValues() throws {
        let inspection = try inspect(RandomCapture(seed: 3, segments: 2_000).bytes)
        let conversations = inspection.analysis.table.conversations
        let all = Array(conversations.indices)
        let packets = ConnectionOrder.packets.sorted(all, of: conversations).map { conversations[$0].packetCount }
        #expect(packets == packets.sorted(by: >) && packets.count == all.count)
        let starts = ConnectionOrder.start.sorted(all, of: conversations).map { conversations[$0].firstTime ?? 0 }
        #expect(starts == starts.sorted())
        let bytes = ConnectionOrder.bytes.sorted(all, of: conversations).map {
            conversations[$0].fromClient.stream.deliveredLength + conversations[$0].fromServer.stream.deliveredLength
        }
        #expect(bytes == bytes.sorted(by: >))
    }

    private static let first: UInt64 = 1_700_000_000_250_000_000

    @Test(arguments: [
        ("+2.5", first + 2_500_000_000), ("+0", first), ("2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
        ("2023-11-14 22:13:20.000000001Z", 1_700_000_000_000_000_001),
    ])
    func startTimesAreParsed(text: String, time: UInt64) throws {
        #expect(try #require(StartTime(text)).nanoseconds(first: Self.first) == time)
    }

    /// A time of day is interpreted in the local time zone, so the test derives it from the capture.
    @Test func timeOfDayIsOnTheCapturesDay() throws {
        let text = StartTime.timeOfDay(Self.first)
        #expect(text.hasSuffix(".250000") && text.count == 15)
        #expect(try #require(StartTime(text)).nanoseconds(first: Self.first) == Self.first)
        let minute = try #require(StartTime(String(text.prefix(5))))
        #expect(Self.first - minute.nanoseconds(first: Self.first) < 60_000_000_000)
    }

    @Test(arguments: [
        "", "x", "25:00", "1:60", "14", "+", "+x", "-1", "2023-13-01T00:00", "2023-01-01", "1:2:3:4", "1:2:60",
        "1:02:03.",
    ])
    func otherTextIsNotAStartTime(text: String) {
        #expect(StartTime(text) == nil)
    }

    // MARK: Snap length

    /// If the snap length cuts packets short, sizes count the bytes that were sent, and offsets are positions in the
    /// complete stream.
    @Test func snapLengthIsReported() throws {
        let collected = Collected()
        let inspection = try inspect(
            CaptureBuilder.snapped, limits: .deliveringParts,
            observer: FollowObserver(form: .hex, output: collected.output))
        ConnectionTableText.write(
            inspection.analysis.table.conversations, inspection.anomalies,
            style: ConnectionTableText.Style(columns: [.clientBytes, .serverBytes, .anomalies]), to: collected.output)
        #expect(
            collected.text == """
                client  20 bytes at offset 0
                  00000000  78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78  |xxxxxxxxxxxxxxxx|
                  00000010  78 78 78 78                                      |xxxx|
                client  (39 bytes at offset 20 cut off by the snap length)
                client  10 bytes at offset 59
                  0000003b  79 79 79 79 79 79 79 79 79 79                    |yyyyyyyyyy|
                client  (10 bytes at offset 69 cut off by the snap length)
                     client bytes  server bytes  anomalies
                30 of 79 captured             0  49 bytes cut off by the snap length

                """)
        let report = try #require(inspection.reports(ConnectionFilter()).first)
        #expect(
            LadderObserver.footer(report).contains("the client sent 79 bytes (30 of 79 captured), the server 0 bytes"))
        #expect(InspectJSON.flow(report, file: "f").contains("\"bytes\":30,\"sent\":79,"))
        let ladder = Collected()
        _ = try inspect(CaptureBuilder.snapped, observer: LadderObserver(width: 120, output: ladder.output))
        #expect(ladder.text.contains("[20 of 59 captured]") && ladder.text.contains("len 59 \"xxx"))
        #expect(!ladder.text.contains("x\""))
    }

    @Test func columnsAreParsedByName() throws {
        #expect(try ConnectionColumn.list("flow,rtt").get() == [.flow, .rtt])
        #expect(
            try ConnectionColumn.list("+start,rtt,flow").get() == ConnectionColumn.standard.dropLast() + [
                .start, .rtt, .anomalies,
            ])
        #expect(throws: ConnectionColumn.UnknownName.self) { try ConnectionColumn.list("flow,").get() }
    }

    @Test func handshakesRoundTripAndWindowsAreShown() throws {
        let collected = Collected()
        let inspection = try inspect(CaptureBuilder.greeting)
        ConnectionTableText.write(
            inspection.analysis.table.conversations, inspection.anomalies,
            style: ConnectionTableText.Style(columns: [.flow, .rtt, .clientWindow, .serverWindow]),
            to: collected.output)
        #expect(
            collected.text == "flow    RTT  client window  server window\n   0  20 us            512            512\n")
    }

    // MARK: Following

    /// Valid UTF-8 characters are shown unescaped, even if their bytes are in two segments. Incomplete characters are
    /// shown as escaped bytes.
    @Test func validCharactersAreNotEscaped() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        capture.send(&connection, .server, bytes: Array("anna: J".utf8) + [0xc3])
        capture.send(&connection, .server, bytes: [0xb6] + Array("rg\r\n".utf8))
        capture.send(&connection, .client, bytes: Array("\"a\" ".utf8) + [0xc3])
        capture.send(&connection, .server, bytes: [0xb6, 0x0a])
        let shown = try [FollowObserver.Form.escaped, .text].map { form in
            let collected = Collected()
            _ = try inspect(
                capture.bytes, limits: .deliveringParts,
                observer: FollowObserver(form: form, showsTimes: form == .text, output: collected.output))
            return collected.text
        }
        #expect(
            shown == [
                #"""
                server  "anna: Jörg\r\n"
                client  "\"a\" \xc3"
                server  "\xb6\n"

                """#,
                #"""
                   0.000030  server  anna: Jörg
                   0.000050  client  "a" \xc3
                   0.000060  server  \xb6

                """#,
            ])
    }

    @Test func excludedPacketsAreNotRead() throws {
        let collected = Collected()
        let folder = try TemporaryFolder()
        let path = try folder.write("a.pcapng", CaptureBuilder.troubled)
        let inspection = Inspection.of(try CaptureSource(path: path), accepts: { record, _ in record.index >= 7 })
        collected.output(ConnectionTableText.summary(inspection, shown: 1))
        #expect(collected.text == "1 flow, 2 of 9 packets")
        #expect(InspectJSON.summary(inspection, file: "f").contains("\"packets\":2,\"excluded\":7,"))
    }

    @Test(
        arguments: [
            ("st", ["start"]), ("flow,cl", ["flow,client", "flow,client-bytes", "flow,close", "flow,client-window"]),
            ("flow,client,cl", ["flow,client,client-bytes", "flow,client,close", "flow,client,client-window"]),
            (
                "+",
                [
                    "+start", "+rtt", "+client-window", "+server-window", "+first-byte", "+longest-pause",
                    "+last-heard",
                ]
            ),
            ("+start,r", ["+start,rtt"]),
            ("nothing,", nil), ("x", []),
        ] as [(String, [String]?)])
    func eachColumnNameIsCompleted(text: String, list: [String]?) {
        let completions = ConnectionColumn.completions(of: text)
        if let list {
            #expect(completions == list)
        } else {
            #expect(completions.count == ConnectionColumn.allCases.count)
        }
        for whole in completions where list != nil {
            if case .failure = ConnectionColumn.list(whole) { Issue.record("\(whole) is not a list of columns") }
        }
    }
}
