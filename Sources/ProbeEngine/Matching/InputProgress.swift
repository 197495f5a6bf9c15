import ProbeBase
import ProbeScenario
import ProbeSystem

/// How far a step has examined the received bytes. Each byte is examined only once, however small the pieces in which
/// the bytes arrive.
///
/// Each waiting step has its own progress, which applies to one expectation.
struct InputProgress {
    /// The offset after the last examined line.
    var lines = 0
    /// The offset up to which the bytes after `lines` have been searched for a terminator.
    var searched = 0
    /// The offset up to which the received bytes equal the expected bytes.
    var compared = 0
    /// The offset after the last line that satisfied the expectation.
    var needed = 0
    /// The state of the matching for `lines in any order`.
    var matching: LineMatching?
    /// The progress of the comparison of WebSocket messages and control frames.
    var frames = WebSocketMatcher.Progress()
    /// Whether there was more input to examine than one turn of the reactor allows. If so, another evaluation follows
    /// even if nothing arrives.
    var isBusy = false
    /// The number of bytes that the current evaluation may still compare. A line that is compared several times is
    /// counted each time.
    var allowance = 0

    private var edits: Int?
    private var framing: Framing?

    /// The number of bytes that one evaluation may compare. Comparing this many bytes takes a few milliseconds.
    private static let turn = 1 << 20

    /// Begins an evaluation. Discards progress that is no longer valid because bytes were removed from the buffer.
    mutating func begin(_ buffer: ReceiveBuffer, _ framing: Framing) {
        (isBusy, allowance) = (false, Self.turn)
        defer { (edits, self.framing) = (buffer.edits, framing) }
        guard let edits, self.framing == framing else { return }
        guard let lowest = buffer.lowestEdit(since: edits) else { return }
        if lowest < max(lines, compared, frames.offset) {
            (lines, searched, compared, needed, matching) = (0, 0, 0, 0, nil)
            frames = WebSocketMatcher.Progress()
        } else {
            // A `whenever` block consumed lines after the examined lines, so the bytes after `lines` must be searched
            // again.
            searched = lines
        }
    }

    /// Deducts the cost of examining a line from the number of bytes that the evaluation may still compare. Returns
    /// `false` if that number was already exhausted; the evaluation then ends.
    mutating func spend(_ cost: Int) -> Bool {
        guard allowance > 0 else {
            isBusy = true
            return false
        }
        allowance -= cost
        return true
    }
}
