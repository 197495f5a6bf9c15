import Testing

@testable import ProbeTransport

@Suite struct ConnectRaceTests {
    private typealias Failure = ConnectRace.Failure

    @Test func nextAddressStartsAfterTheDelay() {
        var race = ConnectRace(addressCount: 2)
        #expect(race.next(now: 5) == 0)
        #expect(race.next(now: 5) == nil)
        #expect(race.deadline == 5 + ConnectRace.delay)
        #expect(race.next(now: 5 + ConnectRace.delay) == 1)
        #expect(race.deadline == nil)
        #expect(race.next(now: .max) == nil)
    }

    @Test func nextAddressStartsAtOnceAfterAFailure() {
        var race = ConnectRace(addressCount: 2)
        _ = race.next(now: 0)
        race.attemptFailed(Failure(reason: .refused, detail: "a"), now: 1)
        #expect(race.outcome == nil)
        #expect(race.next(now: 1) == 1)
        race.attemptFailed(Failure(reason: .other, detail: "b"), now: 2)
        #expect(race.outcome == Failure(reason: .refused, detail: "a"))
    }

    @Test func refusalTakesPrecedenceOverUnreachable() {
        var race = ConnectRace(addressCount: 3)
        for (index, failure) in [
            Failure(reason: .other, detail: "unreachable"), Failure(reason: .refused, detail: "first"),
            Failure(reason: .refused, detail: "second"),
        ].enumerated() {
            #expect(race.next(now: Int64(index)) == index)
            race.attemptFailed(failure, now: Int64(index))
        }
        #expect(race.outcome == Failure(reason: .refused, detail: "first"))
    }

    @Test func pendingAttemptPreventsFailure() {
        var race = ConnectRace(addressCount: 2)
        _ = race.next(now: 0)
        _ = race.next(now: ConnectRace.delay)
        race.attemptFailed(Failure(reason: .refused, detail: "b"), now: ConnectRace.delay)
        #expect(race.outcome == nil)
    }

    @Test func noAddressFails() {
        #expect(ConnectRace(addressCount: 0).outcome?.reason == .other)
    }
}
