import ProbeBase
import ProbeScenario
import ProbeSystem

/// Determines which of the received lines a connection's `whenever` rules answer. Pure: it only looks and consumes
/// nothing.
struct WheneverEvaluation {
    struct Answer {
        /// The line with its terminator, as offsets in the unread bytes.
        var line: Range<Int>
        /// The index of the first rule that matches.
        var rule: Int
        var groups: [(String, Value)]
    }

    /// How far the lines have been examined, as positions in the stream.
    struct Progress {
        /// The position after the last complete line.
        var position = 0
        /// The position after the bytes that have been searched for the end of the next line.
        var searched = 0
    }

    var buffer: ReceiveBuffer
    var framing: Framing

    /// Returns the answers to the lines received since the last look, in order. The caller consumes those lines.
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
        // When the answered lines are removed, the bytes after them keep their position.
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
