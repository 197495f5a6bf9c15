import ProbeBase
import Testing

@testable import ProbeSystem

struct OutputLogTests {
    private func time(_ number: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(number)) }

    private func append(
        _ text: some Sequence<UInt8>, to transcript: inout OutputLog, _ stream: ChildProcess.Stream = .output,
        keeping: (OutputLog.Line) -> Bool = { _ in false }
    ) {
        transcript.append(Array(text)[...], from: stream, at: time(1)) { lines, _ in lines.map(keeping) }
    }

    @Test func whatIsAskedForIsKept() {
        var transcript = OutputLog()
        append("first\nneedle\n".utf8, to: &transcript) { $0.bytes == Array("needle".utf8) }
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<20_000 { append(line, to: &transcript) { $0.bytes == Array("needle".utf8) } }
        #expect(transcript.dropped > 3_000)
        #expect(transcript[0] == nil)
        #expect(transcript[1]?.bytes == Array("needle".utf8))
        #expect(transcript.lostBefore == 0)
        #expect(transcript.end == 20_002)
        transcript.release(before: 2)
        #expect(transcript[1] == nil)
    }

    @Test func whatIsKeptIsBounded() {
        var transcript = OutputLog()
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<40_000 { append(line, to: &transcript) { _ in true } }
        let kept = transcript.kept.reduce(0) { $0 + $1.line.bytes.count }
        #expect(kept <= OutputLog.keptLimit)
        #expect(transcript.lostBefore > 0)
    }

    /// A prompt stays one line, however much the other stream prints before it goes on.
    @Test func aLineThatHasNotEndedStays() {
        var transcript = OutputLog()
        append("pro".utf8, to: &transcript, .error)
        let line = [UInt8](repeating: 120, count: 999) + [10]
        for _ in 0..<40_000 { append(line, to: &transcript) }
        append("mpt\n".utf8, to: &transcript, .error)
        #expect(transcript[0]?.bytes == Array("prompt".utf8))
        #expect(transcript[0]?.isComplete == true)
    }

    @Test func aLongLineIsBrokenWithItsContext() throws {
        var transcript = OutputLog()
        append([UInt8](repeating: 97, count: OutputLog.longestLine - 1) + "bcd\n".utf8, to: &transcript)
        let (first, second) = (try #require(transcript[0]), try #require(transcript[1]))
        #expect(first.isBroken && first.isComplete && first.bytes.last == 98)
        #expect(second.bytes == Array("cd".utf8) && !second.isBroken)
        #expect(second.context.count == OutputLog.contextLength && second.context.last == 98)
        #expect(transcript.lastBroken == 0)
    }

    @Test func aLineThatEndsWhereItWouldBeBroken() throws {
        var transcript = OutputLog()
        append([UInt8](repeating: 97, count: OutputLog.longestLine), to: &transcript)
        append("\nnext\n".utf8, to: &transcript)
        #expect(transcript[0]?.isBroken == false)
        #expect(transcript[1]?.bytes == Array("next".utf8))
        #expect(transcript[1]?.context == [])
    }
}
