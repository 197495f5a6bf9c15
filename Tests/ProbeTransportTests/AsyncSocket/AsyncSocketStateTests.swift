import ProbeSystem
import Testing

@testable import ProbeTransport

@Suite struct AsyncSocketStateTests {
    private static let second: Int64 = 1_000_000_000

    private static func connected() throws -> AsyncSocketState {
        var state = AsyncSocketState(BSDConnectionState(limits: .init()), limit: 1024)
        try state.connection.start(now: 0)
        #expect(state.connected(now: 0) == [.report(.started)])
        return state
    }

    private static func stopped(_ reason: StopReason) -> BSDConnectionState.Action {
        .report(.stopped(reason, detail: nil))
    }

    @Test func writesCompleteInOrderWithTheirTags() throws {
        var state = try Self.connected()
        for tag in 1...3 { try state.write([1, 2, 3], timeout: nil, tag: tag, now: 0) }
        let (actions, progress) = state.wrote(7, now: 1)
        #expect(actions == [.report(.sent(7))])
        #expect(progress == [.done(3, tag: 1), .done(3, tag: 2), .partial(1, tag: 3)])
        #expect(state.wrote(2, now: 1).1 == [.done(2, tag: 3)])
        #expect(state.writes.oldest == nil)
    }

    @Test func emptyWriteIsIgnored() throws {
        var state = try Self.connected()
        try state.write([], timeout: 1, tag: 1, now: 0)
        #expect(!state.connection.wantsWrite)
        #expect(state.deadline == nil)
        var early = AsyncSocketState(BSDConnectionState(limits: .init()), limit: 1024)
        #expect(throws: TransportError.notStarted) { try early.write([], timeout: nil, tag: 1, now: 0) }
    }

    @Test func writeTimeoutResetsTheConnection() throws {
        var state = try Self.connected()
        try state.write([1, 2], timeout: 100, tag: 1, now: 0)
        try state.write([3], timeout: 30, tag: 2, now: 0)
        #expect(state.deadline == 100)
        #expect(state.wrote(2, now: 90).1 == [.done(2, tag: 1)])
        #expect(state.deadline == 120)
        #expect(state.nextStep(now: 119) == .wait)
        #expect(state.nextStep(now: 120) == .act([.abort, Self.stopped(.timeout)]))
        #expect(state.connection.isEnded)
    }

    @Test func readTimeoutLeavesBytesUnread() throws {
        var state = try Self.connected()
        try state.read(.init(wanted: .length(4), timeout: 100, tag: 1), now: 0)
        state.received([1, 2], now: 50)
        #expect(state.nextStep(now: 99) == .wait)
        #expect(state.nextStep(now: 100) == .act([Self.stopped(.timeout), .shutdownWrite]))
        #expect(state.reads.unread == [1, 2])
        #expect(state.nextStep(now: 200) == .wait)
        #expect(throws: TransportError.stopped) { try state.read(.init(wanted: .any, timeout: nil, tag: 2), now: 200) }
    }

    @Test func readTimeoutExcludesConnecting() throws {
        var state = AsyncSocketState(BSDConnectionState(limits: .init()), limit: 1024)
        try state.connection.start(now: 0)
        try state.read(.init(wanted: .any, timeout: 100, tag: 1), now: 0)
        _ = state.connected(now: 5 * Self.second)
        #expect(state.nextStep(now: 5 * Self.second + 99) == .wait)
        #expect(state.deadline == 5 * Self.second + 100)
    }

    @Test func receivedBytesAreReadAfterTheFIN() throws {
        var state = try Self.connected()
        state.received([1, 2, 3], now: 0)
        #expect(state.readReachedEOF(now: 0).isEmpty)
        #expect(state.nextStep(now: 0) == .wait)
        #expect(!state.wantsRead)
        try state.write([9], timeout: nil, tag: 1, now: 0)
        #expect(state.connection.wantsWrite)
        try state.read(.init(wanted: .length(3), timeout: nil, tag: 1), now: 0)
        #expect(state.nextStep(now: 0) == .deliver([1, 2, 3], tag: 1))
        #expect(state.nextStep(now: 0) == .act([]))
        _ = state.wrote(1, now: 0)
        #expect(state.connection.settle(now: 0) == [.shutdownWrite, .close, Self.stopped(.eof)])
    }

    @Test func unanswerableReadAfterTheFINEndsTheConnection() throws {
        var state = try Self.connected()
        state.received([1, 2], now: 0)
        _ = state.readReachedEOF(now: 0)
        try state.read(.init(wanted: .length(3), timeout: nil, tag: 1), now: 0)
        #expect(state.nextStep(now: 0) == .act([]))
        #expect(state.connection.settle(now: 0) == [.shutdownWrite, .close, Self.stopped(.eof)])
        #expect(state.reads.unread == [1, 2])
    }

    @Test func failedWriteWithUnreadBytesTriggersARead() throws {
        var state = try Self.connected()
        state.received([1], now: 0)
        #expect(!state.wantsRead)
        state.connection.writeFailed(SystemError.subject(32))
        #expect(state.wantsRead)
        #expect(state.readReachedEOF(now: 0) == [.close, Self.stopped(.brokenPipe)])
    }
}
