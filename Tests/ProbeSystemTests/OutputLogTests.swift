import ProbeBase
import Testing

@testable import ProbeSystem

struct OutputLogTests {
    private func time(_ number: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(number)) }

    private func append(
        _ text: some Sequence<UInt8>, to log: inout OutputLog, _ stream: ChildProcess.Stream = .output,
        keeping: (OutputLog.Line) -> Bool = { _ in false }
    ) {
        log.append(Array(text)[...], from: stream, at: time(1)) { lines, _ in lines.map(keeping) }
    }

    @Test func requestedLinesAreKept() {
        var log = OutputLog()
        append("first\nneedle\n".utf8, to: &log) { $0.bytes == Array("needle".utf8) }
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<20_000 { append(line, to: &log) { $0.bytes == Array("needle".utf8) } }
        #expect(log.dropped > 3_000)
        #expect(log[0] == nil)
        #expect(log[1]?.bytes == Array("needle".utf8))
        #expect(log.lostBefore == 0)
        #expect(log.end == 20_002)
        log.release(before: 2)
        #expect(log[1] == nil)
    }

    @Test func keptLinesAreBounded() {
        var log = OutputLog()
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<40_000 { append(line, to: &log) { _ in true } }
        let kept = log.kept.reduce(0) { $0 + $1.line.bytes.count }
        #expect(kept <= OutputLog.keptLimit)
        #expect(log.lostBefore > 0)
    }

    /// A prompt remains a single line, even if much text is printed on the other stream before the line is continued.
    @Test func unfinishedLineIsKept() {
        var log = OutputLog()
        append("pro".utf8, to: &log, .error)
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<40_000 { append(line, to: &log) }
        append("mpt\n".utf8, to: &log, .error)
        #expect(log[0]?.bytes == Array("prompt".utf8))
        #expect(log[0]?.isComplete == true)
    }

    @Test func longLineIsBrokenWithItsContext() throws {
        var log = OutputLog()
        append([UInt8](repeating: 97, count: OutputLog.longestLine - 1) + "bcd\n".utf8, to: &log)
        let (first, second) = (try #require(log[0]), try #require(log[1]))
        #expect(first.isBroken && first.isComplete && first.bytes.last == 98)
        #expect(second.bytes == Array("cd".utf8) && !second.isBroken)
        #expect(second.context.count == OutputLog.contextLength && second.context.last == 98)
        #expect(log.lastBroken == 0)
    }

    @Test func lineEndingAtTheLimitIsNotBroken() throws {
        var log = OutputLog()
        append([UInt8](repeating: 97, count: OutputLog.longestLine), to: &log)
        append("\nnext\n".utf8, to: &log)
        #expect(log[0]?.isBroken == false)
        #expect(log[1]?.bytes == Array("next".utf8))
        #expect(log[1]?.context == [])
    }
}
