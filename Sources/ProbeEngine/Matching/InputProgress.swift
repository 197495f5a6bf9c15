import ProbeBase
import ProbeScenario
import ProbeSystem

/// How far a wait has examined the received bytes, so that each byte is examined once, however small the pieces in
/// which they arrive.
///
/// Each wait has its own progress, for one expectation.
struct InputProgress {
    /// The offset after the lines that have been examined.
    var lines = 0
    /// The offset after the bytes that have been searched, from `lines` on.
    var searched = 0
    /// The offset after the bytes that equal the expected ones.
    var compared = 0
    /// The offset after the last line that was needed.
    var needed = 0
    /// The matching of `lines in any order`.
    var matching: LineMatching?
    /// The progress for WebSocket messages and control frames.
    var frames = WebSocketMatcher.Progress()
    /// Whether there is more to examine than one turn of the reactor allows: another look is due even if nothing
    /// arrives.
    var isBusy = false
    /// The remaining allowance of a look, in bytes of lines. A line counts once for each comparison.
    var allowance = 0

    private var edits: Int?
    private var framing: Framing?

    /// The allowance of a look, worth a few milliseconds.
    private static let turn = 1 << 20

    /// Begins a look: discards progress that is no longer valid because bytes were removed from the buffer.
    mutating func begin(_ buffer: ReceiveBuffer, _ framing: Framing) {
        (isBusy, allowance) = (false, Self.turn)
        defer { (edits, self.framing) = (buffer.edits, framing) }
        guard let edits, self.framing == framing else { return }
        guard let lowest = buffer.lowestEdit(since: edits) else { return }
        if lowest < max(lines, compared, frames.offset) {
            (lines, searched, compared, needed, matching) = (0, 0, 0, 0, nil)
            frames = WebSocketMatcher.Progress()
        } else {
            // A `whenever` consumed lines after those that have been examined.
            searched = lines
        }
    }

    /// Deducts a line's cost from the allowance. Returns false if the allowance was already used up, which ends the
    /// look.
    mutating func spend(_ cost: Int) -> Bool {
        guard allowance > 0 else {
            isBusy = true
            return false
        }
        allowance -= cost
        return true
    }
}
