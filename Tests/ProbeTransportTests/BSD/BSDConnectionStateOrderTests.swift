import ProbeSystem
import Glibc
import Testing

@testable import ProbeTransport

@Suite struct BSDConnectionStateOrderTests {
    /// Whatever the order of events, the connection ends, and `stopped` is reported exactly once, as the last event.
    @Test(arguments: 0..<200)
    func everyOrderEndsWithOneStop(_ seed: Int) throws {
        var random = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 &+ 1
        func next(_ bound: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % bound
        }
        var state = BSDConnectionState(limits: .init(connect: 100, idle: 50, linger: 20, drain: 10))
        try state.start(now: 0)
        var reports: [TransportEvent] = []
        var now: Int64 = 0
        func take(_ actions: [BSDConnectionState.Action]) {
            for case .report(let event) in actions { reports.append(event) }
        }
        for _ in 0..<60 {
            now += Int64(next(8))
            switch next(13) {
            case 0: state.stop(now: now)
            case 1: if state.isConnecting { take(state.connected(now: now) ?? []) }
            case 2: if state.isConnecting { take(state.connectFailed(.init(reason: .refused, detail: ""))) }
            case 3, 4: do { try state.send([1, 2], now: now) } catch { #expect(error != .invalid) }
            case 5: do { try state.halfClose() } catch { #expect(error == .stopped) }
            case 6: do { try state.stopReading() } catch { #expect(error == .stopped) }
            case 7: do { try state.resumeReading(now: 0) } catch { #expect(error == .stopped) }
            case 8: if state.wantsRead { take(state.readReachedEOF(now: now)) }
            case 9: if state.wantsRead { take(state.readFailed(SystemError.subject(ECONNRESET))) }
            case 10: if state.wantsRead { take(state.inputFailed(.tooLong, "", now: now)) }
            case 11: if state.wantsWrite { take(state.wrote(Int(next(3)), now: now)) }
            default: if state.wantsWrite { state.writeFailed(SystemError.subject(EPIPE)) }
            }
            take(state.settle(now: now, unacknowledged: Int(next(2))))
        }
        state.stop(now: now)
        for _ in 0..<8 where !state.isEnded {
            now += 100
            take(state.settle(now: now))
        }
        #expect(state.isEnded)
        let stops = reports.filter { if case .stopped = $0 { true } else { false } }
        #expect(stops.count == 1)
        #expect(reports.last == stops.last)
    }

    @Test func acceptedConnectionIsStarted() throws {
        var state = BSDConnectionState(limits: .init(connect: 100, idle: 50, linger: 20, drain: 10), acceptedAt: 7)
        #expect(throws: TransportError.alreadyStarted) { try state.start(now: 7) }
        #expect(state.deadline == 57)
        try state.send([1], now: 7)
        #expect(state.wantsWrite)
    }
}
