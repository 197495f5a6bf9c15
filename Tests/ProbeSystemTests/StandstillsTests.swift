import ProbeBase
import Testing

@testable import ProbeSystem

/// What a reactor's thread that was held up makes of deadlines and lower bounds. Times are milliseconds, and passed in.
struct StandstillsTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Runs at `last`, is due at `due`, and runs again at `now`.
    private static func standstills(_ runs: [(last: Int64, due: Int64, now: Int64)]) -> Standstills {
        var standstills = Standstills()
        for run in runs { standstills.ran(at: at(run.now), due: at(run.due), last: at(run.last)) }
        return standstills
    }

    @Test func threadOnTimePutsNothingOff() {
        let standstills = Self.standstills([(0, 20, 20), (20, 40, 41), (41, 61, 63)])
        #expect(standstills.extended(Self.at(50), from: Self.at(0)) == Self.at(50))
        #expect(!standstills.hides(Self.at(50), from: Self.at(51)))
        #expect(standstills.total(from: Self.at(0), to: Self.at(100)) == .zero)
    }

    @Test func deadlineIsPutOffByTheStandstill() {
        // Last seen at 100, due at 120, and back at 420.
        let standstills = Self.standstills([(100, 120, 420)])
        #expect(standstills.extended(Self.at(150), from: Self.at(0)) == Self.at(470))
        #expect(standstills.extended(Self.at(1000), from: Self.at(0)) == Self.at(1320))
        // What is over before it, or begins behind it, is not.
        #expect(standstills.extended(Self.at(90), from: Self.at(0)) == Self.at(90))
        #expect(standstills.extended(Self.at(900), from: Self.at(500)) == Self.at(900))
        // What begins in it has it from there on.
        #expect(standstills.extended(Self.at(500), from: Self.at(300)) == Self.at(620))
    }

    @Test func whatLayThereIsReadAfterwards() {
        // The deadline was a millisecond behind the thread's last sign of life: reading takes longer than that.
        let standstills = Self.standstills([(100, 120, 420)])
        #expect(standstills.extended(Self.at(101), from: Self.at(0)) == Self.at(440))
    }

    @Test func severalAddUp() {
        let standstills = Self.standstills([(0, 20, 120), (120, 140, 340)])
        #expect(standstills.extended(Self.at(60), from: Self.at(0)) == Self.at(400))
        #expect(standstills.total(from: Self.at(0), to: Self.at(1000)) == .milliseconds(340))
        #expect(standstills.total(from: Self.at(20), to: Self.at(220)) == .milliseconds(200))
    }

    @Test func shortDelayCountsFromWhenTheThreadWasDue() {
        let standstills = Self.standstills([(100, 120, 130)])
        #expect(standstills.total(from: Self.at(0), to: Self.at(1000)) == .milliseconds(10))
        #expect(standstills.extended(Self.at(125), from: Self.at(0)) == Self.at(140))
    }

    @Test func lowerBoundIsHiddenByTheStandstillAcrossIt() {
        let standstills = Self.standstills([(100, 120, 420)])
        // Seen right behind the standstill: it may have come before 150.
        #expect(standstills.hides(Self.at(150), from: Self.at(421)))
        #expect(standstills.hides(Self.at(415), from: Self.at(440)))
        // Seen while the thread ran, or well behind it.
        #expect(!standstills.hides(Self.at(150), from: Self.at(460)))
        // At the bound the thread ran.
        #expect(!standstills.hides(Self.at(99), from: Self.at(421)))
        #expect(!standstills.hides(Self.at(450), from: Self.at(455)))
    }

    @Test func onlySoManyAreKept() {
        var standstills = Standstills()
        for number in 0..<Int64(100_000) {
            standstills.ran(
                at: Self.at(number * 100 + 50), due: Self.at(number * 100 + 20), last: Self.at(number * 100))
        }
        #expect(standstills.total(from: Self.at(9_999_000), to: Self.at(10_000_000)) == .milliseconds(500))
    }
}
