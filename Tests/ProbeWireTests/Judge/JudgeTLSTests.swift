import ProbeBase
import ProbeWire
import Testing

/// Tests of the statements `records`, `tls` and `lacks`, with each possible verdict.
struct JudgeTLSTests {
    // MARK: Records for tests

    private static func record(_ type: UInt8, _ content: [UInt8], version: (UInt8, UInt8) = (3, 3)) -> [UInt8] {
        [type, version.0, version.1, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }

    private static let serverHello = record(22, [2, 0, 0, 6, 3, 3, 9, 9, 9, 9])
    private static let changeCipherSpec = record(20, [1])
    private static let alert = record(21, [2, 48])
    private static let data = record(23, [22, 3, 3, 0, 1, 1])
    private static let flight = serverHello + changeCipherSpec + data
    private static let plain = bytes("220 ready\r\n\u{16}\u{3}\u{15}454 TLS\u{16}\r\n")

    private static let everyStatement: [HalfConnectionStatement<Resolved>] = [
        .records(.equal, 1), .records(.greaterOrEqual, 1), .tls(fromStart: false), .tls(fromStart: true), .lacks([65]),
    ]

    private func connection(_ sent: [UInt8], isOver: Bool = false) -> TestConnection {
        var connection = TestConnection.connected()
        if !sent.isEmpty { connection.send(.server, at: 0, bytes: sent) }
        if isOver { connection.send(.server, .fin, at: Int64(sent.count)) }
        return connection
    }

    // MARK: Counting

    @Test(arguments: [plain, []])
    func recordsAreCountedWhateverTheCut(before: [UInt8]) {
        let sent = before + Self.flight
        for cut in 0...sent.count {
            var connection = connection(Array(sent[..<cut]))
            let whole =
                [Self.serverHello, Self.changeCipherSpec, Self.data].reduce((0, before.count)) { sum, record in
                    let end = sum.1 + record.count
                    return (sum.0 + (end <= cut ? 1 : 0), end)
                }.0
            #expect(connection.judge(.records(.greaterOrEqual, 3)).outcome == (whole == 3 ? .passed : .waiting))
            if whole > 0 { #expect(connection.judge(.records(.equal, whole)) == .passed) }
            // An incomplete record never makes a `tls` statement fail, because the record's remaining bytes may still
            // arrive.
            #expect(connection.judge(.tls(fromStart: false)).outcome != .failed)
            connection.send(.server, at: Int64(cut), bytes: Array(sent[cut...]))
            #expect(connection.judge(.records(.equal, 3)) == .passed)
            #expect(connection.judge(.records(.less, 3)).outcome == .failed)
            #expect(connection.judge(.records(.equal, 4)).outcome == .waiting)
            #expect(connection.judge(.tls(fromStart: false)) == .passed)
            #expect(connection.judge(.tls(fromStart: true)).outcome == (before.isEmpty ? .passed : .failed))
        }
    }

    @Test func recordsAreCountedByteByByte() {
        var connection = TestConnection.connected()
        let sent = Self.plain + Self.flight
        for (offset, byte) in sent.enumerated() { connection.send(.server, at: Int64(offset), bytes: [byte]) }
        #expect(connection.judge(.records(.equal, 3)) == .passed)
        #expect(connection.judge(.tls(fromStart: false)) == .passed)
    }

    @Test(arguments: [[], plain])
    func missingRecordsWaitThenFail(sent: [UInt8]) {
        let open = connection(sent)
        let closed = connection(sent, isOver: true)
        for statement in [
            HalfConnectionStatement<Resolved>.records(.equal, 1), .records(.lessOrEqual, 5), .tls(fromStart: false),
        ] {
            #expect(open.judge(statement).outcome == .waiting)
            #expect(closed.judge(statement).outcome == .failed)
            #expect(closed.judge(statement).failure?.summary == "the capture contains no TLS record from the server")
        }
        #expect(open.judge(.records(.equal, 0)) == .passed && closed.judge(.records(.equal, 0)) == .passed)
    }

    @Test func partialRecordViolatesZeroRecords() {
        let failure = connection(Self.plain + Self.serverHello.dropLast()).judge(.records(.equal, 0)).failure
        #expect(failure?.summary == "the server started a TLS record at offset \(Self.plain.count), expected none")
        #expect(connection(Self.serverHello).judge(.records(.equal, 0)).outcome == .failed)
    }

    // MARK: Where the first record begins

    @Test func plaintextLikeAHeaderBeginsNoRecord() {
        let version = bytes("\u{16}\u{3}\u{3}"), oddVersion = bytes("\u{16}\u{3}\u{5}\0\u{8}\u{2}\0\0\u{4}\u{3}\u{3}")
        for text in [
            version, oddVersion, [21, 3, 3, 0, 3, 2, 40], [21, 3, 3, 0, 2, 7, 40], [22, 3, 3, 0, 8, 2, 0, 0, 4, 9, 9],
        ] {
            let before = text + bytes("\r\n")
            #expect(connection(before, isOver: true).judge(.records(.equal, 0)) == .passed)
            #expect(connection(before + Self.flight).judge(.records(.equal, 3)) == .passed)
            #expect(connection(before + Self.flight).judge(.tls(fromStart: false)) == .passed)
        }
    }

    @Test func messageInRecordsOfOneByteBeginsTLS() {
        let pieces = Self.serverHello.dropFirst(5).flatMap { Self.record(22, [$0]) }
        #expect(connection(Self.plain + pieces).judge(.records(.equal, 10)) == .passed)
    }

    @Test func alertInTheClearIsARecord() {
        #expect(connection(Self.plain + Self.alert, isOver: true).judge(.records(.equal, 1)) == .passed)
        #expect(connection(Self.alert, isOver: true).judge(.tls(fromStart: true)) == .passed)
    }

    // MARK: Bytes that are not records

    @Test(
        arguments: [
            (bytes("250 ok\r\n"), "byte 50 is not a TLS content type (20 to 24)"), ([19], "byte 19 is not"),
            ([25], "byte 25 is not"), ([23, 2], "its version is 2.0"), ([23, 3, 5], "its version is 3.5"),
            ([23, 3, 3, 0x48, 0x01], "its length of 18433 bytes"),
            ([22, 3, 3, 0, 0], "it is empty but has content type 22"),
        ] as [([UInt8], String)])
    func garbageAfterRecordsFails(garbage: [UInt8], text: String) {
        for statement in [
            HalfConnectionStatement<Resolved>.records(.equal, 3), .tls(fromStart: false), .tls(fromStart: true),
        ] {
            let failure = connection(Self.flight + garbage).judge(statement)
            #expect(failure.outcome == .failed)
            #expect(failure.failure?.summary.contains("at offset \(Self.flight.count): \(text)") == true)
            #expect(failure.failure?.details.last == "complete TLS records before the invalid record: 3")
        }
    }

    @Test func recordsAtTheLimitsAreWellFormed() {
        let longest = Self.record(23, [UInt8](repeating: 0, count: 18_432))
        let sent = Self.serverHello + longest + Self.record(23, []) + Self.record(24, [1], version: (3, 4))
        #expect(connection(sent).judge(.tls(fromStart: true)) == .passed)
        #expect(connection(sent).judge(.records(.equal, 4)) == .passed)
    }

    @Test func unfinishedRecordIsUndecidedUntilTheEnd() {
        let sent = Self.flight + Self.data.dropLast()
        for (over, outcome) in [(false, WireVerdict.Outcome.waiting), (true, .failed)] {
            let verdict = connection(sent, isOver: over).judge(.tls(fromStart: false))
            #expect(verdict.outcome == outcome)
            #expect(
                verdict.failure?.details == [
                    "complete TLS records: 3", "incomplete at offset \(Self.flight.count): 10 of 11 bytes",
                ])
        }
        var reset = connection(Self.flight + [23, 3])
        reset.send(.client, .rst, at: 0)
        #expect(reset.judge(.tls(fromStart: true)).outcome == .failed)
        #expect(reset.judge(.records(.equal, 3)) == .passed)
    }

    // MARK: Absent bytes

    @Test func bytesAreFoundAcrossSegments() {
        let sent = bytes("USER x\r\nPAPAPASS secret\r\n")
        for cut in 0...sent.count {
            var connection = connection(Array(sent[..<cut]))
            connection.send(.server, at: Int64(cut), bytes: Array(sent[cut...]))
            #expect(connection.judge(.lacks(bytes("PASX"))) == .passed)
            let failure = connection.judge(.lacks(bytes("PAPASS")))
            #expect(failure.outcome == .failed && failure.failure?.summary == #"the server sent "PAPASS" at offset 10"#)
            #expect(connection.judge(.lacks(bytes("\r\n"))).outcome == .failed)
        }
        #expect(connection(sent).judge(.lacks(bytes("PASS")), from: .client).outcome == .waiting)
    }

    @Test func absentBytesMayArriveLater() {
        var connection = connection(bytes("USER x\r\nPA"))
        #expect(connection.judge(.lacks(bytes("PASS"))) == .passed)
        connection.send(.server, at: 10, "SS")
        #expect(connection.judge(.lacks(bytes("PASS"))).outcome == .failed)
    }

    @Test func emptyStreamLacksNothing() {
        #expect(connection([]).judge(.lacks(bytes("PASS"))).outcome == .waiting)
        let failure = connection([], isOver: true).judge(.lacks(bytes("PASS")))
        #expect(
            failure.outcome == .failed
                && failure.failure?.details.first == "use `segments 0` to state that nothing was sent")
    }

    // MARK: Unknown bytes

    @Test func bytesMissingFromTheCaptureAreInconclusive() {
        var cut = TestConnection.connected()
        cut.send(.server, at: 0, bytes: Self.serverHello + Self.data, cut: 1)
        var gap = connection(Self.serverHello)
        gap.send(.server, at: Int64(Self.serverHello.count + Self.data.count), bytes: Self.data)
        // Missing bytes that are not acknowledged may still be retransmitted, so the statements wait.
        #expect(
            Self.everyStatement.allSatisfy {
                gap.judge($0).outcome == ($0 == .records(.greaterOrEqual, 1) ? .passed : .waiting)
            })
        gap.send(.client, at: 0, ack: Int64(Self.serverHello.count + 2 * Self.data.count))
        for connection in [cut, gap] {
            for statement in Self.everyStatement {
                #expect(
                    connection.judge(statement).outcome
                        == (statement == .records(.greaterOrEqual, 1) ? .passed : .inconclusive))
            }
            #expect(connection.judge(.lacks([9, 9])).outcome == .failed)
        }
        // The bytes before and after a gap are not joined, and the bytes that wait after a gap are searched as well.
        #expect(gap.judge(.lacks([9, 23])).outcome == .inconclusive)
        #expect(gap.judge(.lacks(Self.data)).outcome == .failed)
        gap.conversation.finish()
        #expect(gap.judge(.lacks([9, 23])).outcome == .inconclusive)
        #expect(
            gap.judge(.lacks(Self.data)).failure?.summary.hasSuffix(
                "at offset \(Self.serverHello.count + Self.data.count)") == true)
    }

    @Test func unknownBeginningIsInconclusive() {
        var midway = TestConnection()
        midway.send(.server, at: 40, bytes: Self.flight)
        for statement in Self.everyStatement { #expect(midway.judge(statement).outcome == .inconclusive) }
    }

    @Test func bytesThatAreNotKeptAreInconclusive() {
        var limits = ConversationLimits.live
        limits.keptBytes = 20
        var connection = TestConnection(limits: limits)
        connection.handshake()
        connection.send(.server, at: 0, bytes: Self.flight)
        for statement in Self.everyStatement where statement != .records(.greaterOrEqual, 1) {
            #expect(connection.judge(statement).outcome == .inconclusive)
        }
    }

    @Test func conflictingRetransmissionIsInconclusive() {
        var connection = connection(bytes("abcd"))
        connection.send(.server, at: 0, "PASS")
        #expect(connection.judge(.lacks(bytes("PASS"))).outcome == .inconclusive)
        #expect(connection.judge(.lacks(bytes("bc"))).outcome == .failed)
    }

    @Test func enoughBytesAreKeptToJudgeFiles() {
        for statement in Self.everyStatement {
            var connection = TestConnection(limits: .judging([.halfConnection(statement, from: .server)]))
            connection.handshake()
            connection.send(.server, at: 0, bytes: Self.serverHello)
            #expect(connection.judge(statement) == .passed)
        }
    }

    /// A gap may follow the last byte that is kept, even if no byte of the stream is kept.
    @Test(arguments: [0, 1, 4, 5, 100])
    func searchEndsWithTheKeptBytes(keptBytes: Int) {
        var limits = ConversationLimits.live
        limits.keptBytes = keptBytes
        var connection = TestConnection(limits: limits)
        connection.handshake()
        connection.send(.server, at: 0, "abcdefgh", cut: 2)
        connection.send(.server, at: 8, "ijkl", cut: 1)
        #expect(connection.judge(.lacks(bytes("zz"))).outcome == .inconclusive)
        #expect(connection.judge(.lacks(bytes("ab"))).outcome == (keptBytes >= 2 ? .failed : .inconclusive))
    }
}
