import Testing

@testable import ProbeTransport

/// Tests the decisions of a reconnecting transport, without connections or timers.
@Suite struct ReconnectStateTests {
    private static let limits = TransportReconnect(shortest: .milliseconds(100), longest: .milliseconds(350))

    private func connected() throws -> ReconnectState {
        var state = ReconnectState(limits: Self.limits)
        try state.start()
        _ = state.handle(.started)
        return state
    }

    /// Returns a textual description of each action.
    private func words(_ actions: [ReconnectState.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .report(.lost(let reason, let dropped, _)): "lost \(reason.word) \(dropped)"
            case .report(.attemptFailed(let reason, _)): "attempt-failed \(reason.word)"
            case .report(.stopped(let reason, _)): "stopped \(reason.word)"
            case .report(let event): "\(event)"
            case .wait(let duration): "wait \(duration)"
            }
        }
    }

    @Test func waitsDoubleUpToTheMaximum() {
        #expect((0..<5).map(Self.limits.wait) == [100, 200, 350, 350, 350].map { .milliseconds($0) })
        #expect(Self.limits.wait(after: 1_000_000) == .milliseconds(350))
        let same = TransportReconnect(shortest: .seconds(1), longest: .seconds(1))
        #expect(same.wait(after: 3) == .seconds(1))
    }

    @Test(arguments: [StopReason.eof, .reset, .timeout, .brokenPipe, .heartbeat, .closed(code: 1001), .other])
    func endOfAConnectionIsALoss(_ reason: StopReason) throws {
        var state = try connected()
        #expect(
            words(state.handle(.stopped(reason, detail: nil))) == ["lost \(reason.word) 0", "wait 0.1 seconds"])
        let isDue = state.isDue()
        #expect(isDue)
        let isDueAgain = state.isDue()
        #expect(!isDueAgain, "one connection at a time")
    }

    @Test(arguments: [StopReason.tooLong, .protocol, .tlsFailed])
    func protocolViolationsStopReconnecting(_ reason: StopReason) throws {
        var state = try connected()
        #expect(words(state.handle(.stopped(reason, detail: nil))) == ["stopped \(reason.word)"])
        #expect(throws: TransportError.stopped) { try state.requireOpen() }
    }

    @Test func waitsGrowUntilAnAttemptSucceeds() throws {
        var state = ReconnectState(limits: Self.limits)
        try state.start()
        for wait in ["0.1", "0.2", "0.35", "0.35"] {
            #expect(
                words(state.handle(.stopped(.refused, detail: nil))) == [
                    "attempt-failed refused", "wait \(wait) seconds",
                ])
            _ = state.isDue()
        }
        _ = state.handle(.started)
        #expect(words(state.handle(.stopped(.eof, detail: nil))) == ["lost eof 0", "wait 0.1 seconds"])
    }

    @Test func stopBetweenConnectionsIsTheEnd() throws {
        var state = try connected()
        _ = state.handle(.stopped(.eof, detail: nil))
        #expect(words(state.stop()) == ["stopped stopped"])
        let isDue = state.isDue()
        #expect(!isDue)
        #expect(words(state.stop()) == [])
        #expect(throws: TransportError.alreadyStarted) { try state.start() }
    }

    @Test func stopIsReportedByTheConnection() throws {
        var state = try connected()
        #expect(words(state.stop()) == [])
        // After a stop, the reason is `stopped`, whatever error ends the connection.
        #expect(words(state.handle(.stopped(.reset, detail: nil))) == ["stopped stopped"])
    }

    @Test func stopBeforeStartForbidsTheStart() throws {
        var state = ReconnectState(limits: Self.limits)
        #expect(throws: TransportError.notStarted) { try state.requireOpen() }
        #expect(words(state.stop()) == [])
        #expect(throws: TransportError.stopped) { try state.start() }
    }

    @Test func endAfterOurFINIsNotALoss() throws {
        var state = try connected()
        try state.halfClose()
        #expect(throws: TransportError.other("half-closed")) { try state.requireSendable() }
        #expect(words(state.handle(.stopped(.eof, detail: nil))) == ["stopped eof"])
    }

    @Test func partlySentMessagesAreDropped() throws {
        var state = try connected()
        state.unsent.append([1], length: 3)
        state.unsent.append([2], length: 10)
        state.unsent.append([3], length: 3)
        _ = state.handle(.sent(2))
        _ = state.handle(.sent(5))
        #expect(words(state.handle(.stopped(.reset, detail: nil))) == ["lost reset 6", "wait 0.1 seconds"])
        #expect(Array(state.unsent.messages) == [[3]])
        // No byte of the message has been sent, so it waits for the next connection.
        _ = state.isDue()
        #expect(
            words(state.handle(.stopped(.refused, detail: nil))) == ["attempt-failed refused", "wait 0.2 seconds"])
        #expect(Array(state.unsent.messages) == [[3]])
    }

    @Test func pendingMessagesOfAnotherFramingAreDropped() throws {
        var state = try connected()
        state.unsent.append([1], length: 3)
        state.unsent.append([2], length: 10)
        _ = state.handle(.sent(1))
        #expect(
            words(state.handle(.stopped(.eof, detail: nil), hasOtherFraming: true)) == [
                "lost eof 12", "wait 0.1 seconds",
            ])
        #expect(Array(state.unsent.messages) == [])
    }

    @Test func emptyMessagesWaitForTheirReport() {
        var unsent = UnsentMessages()
        unsent.append([], length: 0)
        unsent.append([1], length: 1)
        #expect(unsent.lost() == 0)
        unsent.sent(0)
        #expect(Array(unsent.messages) == [[1]])
        unsent.sent(1)
        #expect(Array(unsent.messages) == [])
        #expect(unsent.lost() == 0)
    }
}
