import ProbeBase
import ProbeScenario
import ProbeSystem

/// How far a wait has looked into what came, so that bytes are looked at once, however small the pieces are in which they come.
///
/// One for each wait: it is about one expectation.
struct InputProgress {
    /// Offset behind the lines that were looked at.
    var lines = 0
    /// Offset behind the bytes that were looked at, from `lines` on.
    var searched = 0
    /// Offset behind the bytes that are the same as the expected ones.
    var compared = 0
    /// Offset behind the last line that was needed.
    var needed = 0
    /// Of `lines in any order`.
    var matching: LineMatching?
    /// Of messages and control frames of WebSocket.
    var frames = WebSocketMatcher.Progress()
    /// There is more to look at now than one turn of the reactor allows: nothing has to come for another look.
    var isBusy = false
    /// What one look may still take: bytes of lines, each as often as it is compared.
    var allowance = 0

    private var edits: Int?
    private var framing: Framing?

    /// What one look takes: some milliseconds.
    private static let turn = 1 << 20

    /// Begins a look: forgets what does not hold any more, as bytes were taken from under it.
    mutating func begin(_ buffer: ReceiveBuffer, _ framing: Framing) {
        (isBusy, allowance) = (false, Self.turn)
        defer { (edits, self.framing) = (buffer.edits, framing) }
        guard let edits, self.framing == framing else { return }
        guard let lowest = buffer.lowestEdit(since: edits) else { return }
        if lowest < max(lines, compared, frames.offset) {
            (lines, searched, compared, needed, matching) = (0, 0, 0, 0, nil)
            frames = WebSocketMatcher.Progress()
        } else {
            // A `whenever` took lines behind those that were looked at.
            searched = lines
        }
    }

    /// Takes a line's cost from the allowance; false, and the look is over, where it was used up before.
    mutating func spend(_ cost: Int) -> Bool {
        guard allowance > 0 else {
            isBusy = true
            return false
        }
        allowance -= cost
        return true
    }
}
