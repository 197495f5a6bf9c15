import ProbeBase
import Testing

@testable import ProbeSystem

/// Tests how deadlines and lower bounds are adjusted if a reactor's thread stalled. Times are passed as arguments, in
/// milliseconds.
struct StandstillsTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Returns the stalls of a thread that ran at `last`, was due at `due`, and next ran at `now`.
    private static func standstills(_ runs: [(last: Int64, due: Int64, now: Int64)]) -> Standstills {
        var standstills = Standstills()
        for run in runs { standstills.ran(at: at(run.now), due: at(run.due), last: at(run.last)) }
        return standstills
    }

    @Test func punctualThreadExtendsNothing() {
        let standstills = Self.standstills([(0, 20, 20), (20, 40, 41), (41, 61, 63)])
        #expect(standstills.extended(Self.at(50), from: Self.at(0)) == Self.at(50))
        #expect(!standstills.hides(Self.at(50), from: Self.at(51)))
        #expect(standstills.total(from: Self.at(0), to: Self.at(100)) == .zero)
    }

    @Test func deadlineIsExtendedByTheStandstill() {
        // The thread last ran at 100 ms, was due at 120 ms, and next ran at 420 ms.
        let standstills = Self.standstills([(100, 120, 420)])
        #expect(standstills.extended(Self.at(150), from: Self.at(0)) == Self.at(470))
        #expect(standstills.extended(Self.at(1000), from: Self.at(0)) == Self.at(1320))
        // A deadline before the stall is unchanged, as is the deadline of a wait that began after the stall.
        #expect(standstills.extended(Self.at(90), from: Self.at(0)) == Self.at(90))
        #expect(standstills.extended(Self.at(900), from: Self.at(500)) == Self.at(900))
        // If an operation began during the stall, its deadline is extended by the remainder of the stall.
        #expect(standstills.extended(Self.at(500), from: Self.at(300)) == Self.at(620))
    }

    @Test func deadlineAllowsTimeToReadTheBacklog() {
        // The deadline was 1 ms after the thread last ran, but reading the backlog takes longer than 1 ms.
        let standstills = Self.standstills([(100, 120, 420)])
        #expect(standstills.extended(Self.at(101), from: Self.at(0)) == Self.at(460))
    }

    @Test(arguments: [(8, 8), (50, 20), (400, 50), (2800, 350), (60_000, 500)] as [(Int64, Int64)])
    func readingTimeGrowsWithTheStandstill(length: Int64, reading: Int64) {
        let standstills = Self.standstills([(100, 120, 100 + length + (length > 20 ? 0 : 20))])
        let end = Self.at(100 + length + (length > 20 ? 0 : 20))
        #expect(standstills.hides(Self.at(121), from: end + .milliseconds(reading)))
        #expect(!standstills.hides(Self.at(121), from: end + .milliseconds(reading + 1)))
    }

    @Test func standstillsAddUp() {
        let standstills = Self.standstills([(0, 20, 120), (120, 140, 340)])
        #expect(standstills.extended(Self.at(60), from: Self.at(0)) == Self.at(400))
        #expect(standstills.total(from: Self.at(0), to: Self.at(1000)) == .milliseconds(340))
        #expect(standstills.total(from: Self.at(20), to: Self.at(220)) == .milliseconds(200))
    }

    @Test func longestStandstillIsFoundWithinTheBounds() throws {
        let standstills = Self.standstills([(0, 20, 120), (200, 220, 540), (600, 620, 700)])
        func longest(_ start: Int64, _ end: Int64) -> [MonotonicTime]? {
            standstills.longest(from: Self.at(start), to: Self.at(end)).map { [$0.from, $0.to] }
        }
        #expect(longest(0, 1000) == [Self.at(200), Self.at(540)])
        #expect(longest(480, 1000) == [Self.at(600), Self.at(700)])
        #expect(longest(0, 210) == [Self.at(0), Self.at(120)])
        #expect(longest(800, 1000) == nil && longest(550, 590) == nil)
    }

    @Test func standstillsOfAnotherProcessAreMerged() {
        var standstills = Self.standstills([(0, 20, 120)])
        standstills.add(from: Self.at(100), to: Self.at(150))
        standstills.add(from: Self.at(300), to: Self.at(400))
        let all = standstills.all(from: Self.at(50), to: Self.at(350)).map { [$0.from, $0.to] }
        #expect(all == [[Self.at(50), Self.at(150)], [Self.at(300), Self.at(350)]])
    }

    @Test func shortDelayCountsFromTheDueTime() {
        let standstills = Self.standstills([(100, 120, 130)])
        #expect(standstills.total(from: Self.at(0), to: Self.at(1000)) == .milliseconds(10))
        #expect(standstills.extended(Self.at(125), from: Self.at(0)) == Self.at(140))
    }

    @Test func standstillAcrossALowerBoundHidesIt() {
        let standstills = Self.standstills([(100, 120, 420)])
        // An event noticed directly after the stall may have occurred before 150 ms.
        #expect(standstills.hides(Self.at(150), from: Self.at(421)))
        #expect(standstills.hides(Self.at(415), from: Self.at(440)))
        // The event was noticed long after the stall, while the thread was running.
        #expect(!standstills.hides(Self.at(150), from: Self.at(461)))
        // The thread was running when the lower bound passed.
        #expect(!standstills.hides(Self.at(99), from: Self.at(421)))
        #expect(!standstills.hides(Self.at(465), from: Self.at(470)))
    }

    @Test func standstillDuringReadingHidesALowerBound() {
        // Without the second stall, the events of the first stall would have been read by 460 ms. Because of the second
        // stall, reading ended at 700 ms at the earliest.
        let standstills = Self.standstills([(100, 120, 420), (440, 460, 700)])
        #expect(standstills.hides(Self.at(150), from: Self.at(701)))
        #expect(!standstills.hides(Self.at(150), from: Self.at(735)))
        // A lower bound at 430 ms is affected only by the second stall.
        #expect(!standstills.hides(Self.at(430), from: Self.at(435 + 300)))
        // The second stall began after all events of the first stall had been read.
        let apart = Self.standstills([(100, 120, 420), (500, 520, 700)])
        #expect(!apart.hides(Self.at(150), from: Self.at(701)))
    }

    @Test func earliestTimePrecedesAStandstill() {
        let standstills = Self.standstills([(0, 20, 120), (125, 145, 340), (900, 920, 930)])
        // At 925 ms and 930 ms, the thread is stalled or is reading the events of a stall that began at 920 ms.
        #expect(standstills.earliest(of: Self.at(930)) == Self.at(920))
        #expect(standstills.earliest(of: Self.at(925)) == Self.at(920))
        // The time 350 ms follows a stall that began shortly after the end of an earlier stall.
        #expect(standstills.earliest(of: Self.at(350)) == Self.at(0))
        // Each of these times is before a stall, at its beginning, or long after its end.
        for time: Int64 in [0, 367, 920, 941] {
            #expect(standstills.earliest(of: Self.at(time)) == Self.at(time))
        }
    }

    @Test func standstillCountIsBounded() {
        var standstills = Standstills()
        for number in 0..<Int64(100_000) {
            standstills.ran(
                at: Self.at(number * 100 + 50), due: Self.at(number * 100 + 20), last: Self.at(number * 100))
        }
        #expect(standstills.total(from: Self.at(9_999_000), to: Self.at(10_000_000)) == .milliseconds(500))
    }
}
