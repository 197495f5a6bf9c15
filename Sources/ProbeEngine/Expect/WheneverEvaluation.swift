import ProbeBase
import ProbeScenario
import ProbeSystem

/// Which of the lines that have come on a connection its `whenever` rules answer. Pure: it looks, and takes nothing.
struct WheneverEvaluation {
    struct Answer {
        /// The line with its terminator: offsets of the unread bytes.
        var line: Range<Int>
        /// Which of the rules it is: the first that fits.
        var rule: Int
        var groups: [(String, Value)]
    }

    /// How far the lines were looked at: positions in the stream.
    struct Progress {
        /// Behind the last whole line.
        var position = 0
        /// Behind what was searched for the end of the line there.
        var searched = 0
    }

    var buffer: ReceiveBuffer
    var framing: Framing

    /// The answers to the lines that have come since the last look, in their order. The caller takes those lines.
    func evaluate(_ rules: [ExpectedText], _ progress: inout Progress) -> [Answer] {
        // There are no lines among frames.
        if framing == .websocket { return [] }
        var look = InputProgress()
        look.lines = max(0, progress.position - buffer.consumed)
        look.searched = max(0, progress.searched - buffer.consumed)
        var answers: [Answer] = []
        let matcher = InputMatcher(buffer: buffer, end: nil, framing: framing)
        while look.lines <= buffer.count, case .unit(let unit) = matcher.nextUnit(&look) {
            if let (rule, groups) = match(buffer.bytes(unit.content), rules) {
                answers.append(Answer(line: look.lines..<unit.end, rule: rule, groups: groups))
            }
            (look.lines, look.searched) = (unit.end, unit.end)
        }
        // Where the answered lines are taken out, what is behind them keeps its position.
        progress.position = buffer.consumed + min(look.lines, buffer.count)
        progress.searched = buffer.received
        return answers
    }

    private func match(_ line: [UInt8], _ rules: [ExpectedText]) -> (rule: Int, groups: [(String, Value)])? {
        for (index, rule) in rules.enumerated() {
            if let groups = rule.match(line) { return (index, groups) }
        }
        return nil
    }
}
