import ProbeEvents
import ProbeReport
import Testing

@Suite struct ProgressTests {
    private let millisecond: Int64 = 1_000_000

    private func recorder(width: Int = 80) -> ConsoleRecorder {
        ConsoleRecorder(style: .init(usesColor: false, progressWidth: width), options: .sample())
    }

    @Test func progressIsShown() {
        var console = recorder()
        var text = String(decoding: console.record(.started(caseCount: 40), at: 0), as: UTF8.self)
        #expect(TerminalText.screen(text) == ["0/40"])
        for index in 0..<10 {
            text += String(decoding: console.record(.caseStarted(id: "case\(index)"), at: millisecond), as: UTF8.self)
            let result = Samples.result(index == 3 ? .error : .passed, id: "case\(index)")
            text += String(decoding: console.record(.caseEnded(result), at: 2 * millisecond), as: UTF8.self)
        }
        text += String(decoding: console.record(.caseStarted(id: "next"), at: 3 * millisecond), as: UTF8.self)
        text += String(decoding: console.tick(at: 2000 * millisecond), as: UTF8.self)
        #expect(TerminalText.screen(text).last == "10/40  1 not passed  5.0/s  6 s left  next")
        text += String(decoding: console.record(.ended(RunSummary()), at: 2001 * millisecond), as: UTF8.self)
        let screen = TerminalText.screen(text)
        #expect(
            screen.suffix(3) == [
                "0 passed, 0 failed in 0 ms: nothing was judged, because there was no case to run", "bsd: 9 of 10 must",
                "",
            ])
        #expect(screen.count { $0.contains("/40") } == 0)
    }

    @Test func progressIsDrawnAtMostTenTimesASecond() {
        var console = recorder()
        var draws = 0
        for index in 0..<3000 {
            let time = Int64(index) * millisecond
            if !console.record(.caseEnded(Samples.passed), at: time).isEmpty || index == 0 { draws += 1 }
            if index == 0 { draws = console.record(.started(caseCount: 3000), at: time).isEmpty ? 0 : 1 }
            if !console.tick(at: time).isEmpty { draws += 1 }
        }
        #expect((25...31).contains(draws))
    }

    @Test func noLineIsLost() {
        var console = recorder()
        var text = String(decoding: console.record(.started(caseCount: 500), at: 0), as: UTF8.self)
        for index in 0..<500 {
            let event = RunEvent.caseEnded(Samples.result(.passed, id: "case\(index)"))
            text += String(decoding: console.record(event, at: Int64(index) * millisecond), as: UTF8.self)
        }
        text += String(decoding: console.record(.ended(RunSummary()), at: 500 * millisecond), as: UTF8.self)
        let lines = TerminalText.screen(text).filter { $0.hasPrefix("passed") }
        #expect(lines == (0..<500).map { "passed       case\($0)  35 ms" })
    }

    @Test func progressStaysOutOfTheLastColumn() {
        for width in [1, 2, 10, 20] {
            var console = recorder(width: width)
            _ = console.record(.started(caseCount: 1), at: 0)
            _ = console.record(.caseStarted(id: "日本語の長い名前の事例です"), at: 1)
            let text = String(decoding: console.tick(at: 200 * millisecond), as: UTF8.self)
            let shown = TerminalText.screen(text).last ?? ""
            let columns = shown.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2E80 ? 2 : 1) }
            #expect(columns < width)
        }
    }

    @Test func endlessRunCountsUp() {
        var console = recorder()
        _ = console.record(.started(caseCount: .max), at: 0)
        _ = console.record(.caseEnded(Samples.passed), at: 1)
        let text = String(decoding: console.tick(at: 2000 * millisecond), as: UTF8.self)
        #expect(TerminalText.screen(text).last == "1 done  0.5/s")
    }

    @Test func withoutATerminalThereIsNoProgress() {
        var console = ConsoleRecorder(style: .init(usesColor: false))
        #expect(console.record(.started(caseCount: 3), at: 0).isEmpty)
        #expect(console.tick(at: 1_000_000_000).isEmpty)
        #expect(!console.record(.caseEnded(Samples.passed), at: 0).isEmpty)
    }
}
