import ProbeBase
import ProbeScenario
import ProbeSystem

/// Determines which received lines match a connection's `whenever` rules. Has no side effects: it consumes nothing.
struct WheneverEvaluation {
    struct Answer {
        /// The line with its terminator, as a range of offsets in the unread bytes.
        var line: Range<Int>
        /// The index of the first rule that matches the line.
        var rule: Int
        var groups: [(String, Value)]
    }

    /// How far the lines have been examined, as positions in the stream.
    struct Progress {
        /// The stream position after the last complete line.
        var position = 0
        /// The position up to which the stream has been searched for the end of the next line.
        var searched = 0
    }

    var buffer: ReceiveBuffer
    var framing: Framing

    /// Returns the answers to the lines received since the last evaluation, in order. The caller consumes these lines.
    func evaluate(_ rules: [ExpectedText], _ progress: inout Progress) -> [Answer] {
        // WebSocket frames don't contain lines.
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
        // Positions count from the start of the stream, so they stay valid when the caller removes the answered lines.
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
