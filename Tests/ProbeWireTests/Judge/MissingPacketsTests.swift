import ProbeBase
import ProbeWire
import Testing

/// Tests of verdicts on captures in which packets are missing. If the missing packets could change a verdict, the
/// verdict is inconclusive.
struct MissingPacketsTests {
    /// A statement about the server, and its outcomes in a complete capture (`whole`) and in a capture that began late
    /// or has a gap (`partial`).
    struct Row: Sendable, CustomTestStringConvertible {
        var assertion: WireAssertion
        var whole: WireVerdict.Outcome
        var partial: WireVerdict.Outcome

        init(
            _ assertion: HalfConnectionStatement<Resolved>, _ whole: WireVerdict.Outcome, _ partial: WireVerdict.Outcome
        ) {
            self.init(.halfConnection(assertion, from: .server), whole, partial)
        }

        init(_ assertion: WireAssertion, _ whole: WireVerdict.Outcome, _ partial: WireVerdict.Outcome) {
            (self.assertion, self.whole, self.partial) = (assertion, whole, partial)
        }

        var testDescription: String { "\(assertion)" }
    }

    /// Statements and their outcomes, for an exchange in which the server sends two segments, each with a line, and a
    /// FIN, and the client sends one segment and a FIN.
    static let rows: [Row] = [
        Row(.bytes(bytes("ab\r\ncd\r\n")), .passed, .inconclusive), Row(.bytes(bytes("x")), .failed, .inconclusive),
        Row(.segmentCount(.greaterOrEqual, 2), .passed, .passed), Row(.segmentCount(.equal, 2), .passed, .inconclusive),
        Row(.segmentCount(.less, 2), .failed, .failed), Row(.segmentCount(.equal, 1), .failed, .failed),
        Row(.segmentCount(.greater, 2), .failed, .inconclusive), Row(.segmentCount(.notEqual, 1), .passed, .passed),
        Row(.segmentCount(.less, 3), .passed, .inconclusive),
        Row(.segments([bytes("ab\r\n"), bytes("cd\r\n")]), .passed, .inconclusive),
        Row(.gap(index: nil, .less, .nanoseconds(1_000_000_000)), .passed, .inconclusive),
        Row(.largestSegment(.less, 4), .failed, .failed), Row(.largestSegment(.less, 5), .passed, .inconclusive),
        Row(.longestLine(.greater, 1), .passed, .passed), Row(.longestLine(.equal, 2), .passed, .inconclusive),
        Row(.lines(.crlf), .passed, .inconclusive), Row(.messages(.greaterOrEqual, 2, .crlf), .passed, .passed),
        Row(.messages(.equal, 2, .crlf), .passed, .inconclusive),
        Row(.messages(.greaterOrEqual, 1, .u8), .failed, .inconclusive),
        Row(.firstByte(within: .nanoseconds(1_000_000_000)), .passed, .inconclusive),
        Row(.zeroWindow, .failed, .inconclusive), Row(.window(.lessOrEqual, 1 << 24), .passed, .inconclusive),
        Row(.urgent, .failed, .inconclusive), Row(.retransmissions(.equal, 0), .passed, .inconclusive),
        Row(.retransmissions(.greater, 0), .failed, .inconclusive), Row(.sacks(.equal, 0), .passed, .inconclusive),
        Row(.duplicateAcks(.equal, 0), .passed, .inconclusive), Row(.keepAlives(.equal, 0), .passed, .inconclusive),
        Row(.records(.equal, 0), .passed, .inconclusive), Row(.frames(.greater, 0), .failed, .inconclusive),
        Row(.tls(fromStart: true), .failed, .inconclusive), Row(.lacks(bytes("zz")), .passed, .inconclusive),
        Row(.lacks(bytes("cd")), .failed, .failed), Row(.fin(from: .server), .passed, .passed),
        Row(.rst(from: .server), .waiting, .inconclusive), Row(.noReset, .passed, .inconclusive),
        Row(.closedFirst(by: .server), .passed, .inconclusive), Row(.closedFirst(by: .client), .failed, .inconclusive),
        Row(.noRetransmission, .passed, .inconclusive), Row(.packets(.greaterOrEqual, 3), .passed, .passed),
        Row(.packets(.less, 3), .failed, .failed), Row(.packets(.less, 100), .passed, .inconclusive),
    ]

    private func exchange(_ connection: inout TestConnection, serverFrom offset: Int64 = 0, client: Bool = true) {
        func fromClient(_ flags: TCPFlags = .ack, at position: Int64, ack: Int64, _ text: String = "") {
            if client { connection.send(.client, flags, at: position, ack: ack, text) }
        }
        fromClient(at: 0, ack: offset, "request")
        connection.send(.server, at: offset, ack: 7, "ab\r\n")
        connection.send(.server, at: offset + 4, ack: 7, "cd\r\n")
        fromClient(at: 7, ack: offset + 8)
        connection.send(.server, .fin, at: offset + 8, ack: 7)
        fromClient(.fin, at: 7, ack: offset + 9)
        connection.send(.server, at: offset + 9, ack: 8)
        connection.conversation.finish()
    }

    @Test(arguments: rows)
    func completeCaptureDecides(row: Row) {
        var connection = TestConnection.connected()
        exchange(&connection)
        let outcome = connection.conversation.judge(row.assertion).outcome
        #expect(outcome == row.whole || (outcome == .failed && row.whole == .waiting))
        #expect(connection.conversation.unknownPart(of: .server) == nil)
    }

    @Test(arguments: rows)
    func lateCaptureDecidesOnlyWhatIsCertain(row: Row) {
        var connection = TestConnection()
        exchange(&connection)
        #expect(connection.conversation.judge(row.assertion).outcome == row.partial)
    }

    /// The capture has a gap before the bytes to which the statements in `rows` refer.
    @Test(arguments: rows)
    func gapKeepsCertainVerdicts(row: Row) {
        var connection = TestConnection.connected()
        exchange(&connection, serverFrom: 100)
        let outcome = connection.conversation.judge(row.assertion).outcome
        // The captured line endings were certainly sent, but the missing packets may have contained further lines and
        // other bytes.
        #expect(outcome == row.partial)
    }

    static let handshakeRow = WireAssertion.handshakeComplete

    @Test func handshakeBeforeTheCaptureIsInconclusive() {
        var late = TestConnection()
        exchange(&late)
        #expect(late.conversation.judge(Self.handshakeRow).outcome == .inconclusive)
        let whole = TestConnection.connected()
        #expect(whole.conversation.judge(Self.handshakeRow) == .passed)
    }

    // MARK: One direction

    /// Returns a connection of which only the client's packets were captured, with or without the client's SYN.
    private func oneDirection(hasSYN: Bool) -> TestConnection {
        var connection = TestConnection()
        if hasSYN { connection.send(.client, .syn, at: -1, ack: nil) }
        connection.send(.client, at: 0, ack: 0)
        connection.send(.client, .psh, at: 0, ack: 0, "request")
        for end in [1_000, 2_000] as [Int64] { connection.send(.client, at: 7, ack: end) }
        var options = TCPOptions()
        let base = SequenceNumber(connection.serverISN) + 1
        options.sack.append(SACKBlock(start: base + 3_000, end: base + 4_000))
        for _ in 0..<3 { connection.send(.client, at: 7, ack: 2_000, options: options) }
        connection.send(.client, at: 7, ack: 5_000)
        connection.conversation.finish()
        return connection
    }

    @Test(arguments: [true, false])
    func otherDirectionIsCountedFromItsFirstAcknowledgment(hasSYN: Bool) {
        var connection = oneDirection(hasSYN: hasSYN)
        let flow = connection.conversation
        #expect(flow.isUnseen(.server) && !flow.isUnseen(.client))
        #expect(flow.fromServer.stream.gaps.map(\.length) == [5_000])
        #expect(flow.fromClient.signals.sacks == 3 && flow.fromClient.signals.duplicates == 3)
        #expect(connection.send(.client, at: 7, ack: 6_000).relativeAcknowledgment == 6_001)
        #expect(connection.judge(.sacks(.greaterOrEqual, 1), from: .client) == .passed)
    }

    /// No statement about the side whose packets are missing can be judged with certainty.
    @Test(arguments: rows.map(\.assertion) + [handshakeRow], [true, false])
    func unseenDirectionIsInconclusive(assertion: WireAssertion, hasSYN: Bool) {
        let outcome = oneDirection(hasSYN: hasSYN).conversation.judge(assertion).outcome
        switch assertion {
        case .packets(.greaterOrEqual, _): #expect(outcome == .passed)
        case .packets(.less, 3): #expect(outcome == .failed)
        default: #expect(outcome == .inconclusive)
        }
    }

    /// Only acknowledgments were captured, whose numbers wrap around more than once.
    @Test func acknowledgmentsOfOneDirectionWrap() {
        var connection = TestConnection()
        var acknowledged: Int64 = 0
        while acknowledged < 10_000_000_000 {
            connection.send(.client, at: 0, ack: acknowledged)
            acknowledged += 900_000_000
        }
        #expect(connection.conversation.fromServer.acknowledgedEnd == acknowledged - 900_000_000)
    }

    /// The capture is complete even if a SYN is unanswered or refused.
    @Test(arguments: [true, false])
    func silenceAndRefusalAreConclusive(isRefused: Bool) {
        var connection = TestConnection()
        connection.send(.client, .syn, at: -1, ack: nil)
        if isRefused { connection.send(.server, .rst, at: -5_001, ack: 0) }
        #expect(connection.conversation.unknownPart(of: .server) == nil)
        #expect(connection.conversation.judge(.noReset).outcome == (isRefused ? .failed : .passed))
        #expect(connection.judge(.segmentCount(.equal, 0), from: .client).outcome == .passed)
    }
}
