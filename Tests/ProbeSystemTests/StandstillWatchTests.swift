import ProbeBase
import Testing

@testable import ProbeSystem

/// Tests how a loop detects its own stalls. Times are passed as arguments.
struct StandstillWatchTests {
    /// Returns the stalls of a loop that slept and worked for the given durations, in milliseconds.
    private static func standstills(
        ignoringWork: Bool = false, _ body: (_ watch: inout StandstillWatch, _ at: (Int64) -> MonotonicTime) -> Void
    ) -> [[Duration]] {
        var watch = StandstillWatch(ignoresWork: ignoringWork)
        let start = watch.lastRun
        body(&watch) { start + .milliseconds($0) }
        return watch.standstills.all(from: start).map { [$0.from - start, $0.to - start] }
    }

    @Test func punctualLoopHasNoStandstill() {
        let found = Self.standstills { watch, at in
            watch.slept(until: at(20), due: .distantFuture)
            watch.worked(until: at(21))
            watch.slept(until: at(31), due: at(30))
            watch.slept(until: at(35), due: at(50))
        }
        #expect(found == [])
    }

    @Test func missedHeartbeatIsAStandstill() {
        let found = Self.standstills { watch, at in watch.slept(until: at(520), due: .distantFuture) }
        #expect(found == [[.milliseconds(0), .milliseconds(520)]])
    }

    @Test func idleLoopHasNoStandstill() {
        let found = Self.standstills { watch, at in
            watch.slept(until: at(520), due: nil)
            watch.worked(until: at(521))
        }
        #expect(found == [])
    }

    /// During the work, the thread uses no processor time, so the thread must have been suspended.
    @Test(arguments: [false, true])
    func suspensionDuringWorkIsAStandstill(ignoringWork: Bool) {
        let found = Self.standstills(ignoringWork: ignoringWork) { watch, at in
            watch.slept(until: at(10), due: at(10))
            watch.worked(until: at(520))
        }
        #expect(found == [[.milliseconds(10), .milliseconds(520)]])
    }
}
