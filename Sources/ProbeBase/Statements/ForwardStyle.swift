/// How the bytes of one direction go on through a proxy.
package struct ForwardStyle<Stage: StatementStage>: Sendable {
    /// Offsets are counted from where the style begins to hold; places of a random cut are 1 to 64 bytes apart.
    package var cut: Cut<Stage>?
    package var pace: Pace?
    /// From when bytes came to when they go on.
    package var delay: Duration?
    /// What comes goes on in one write, once nothing has come for a moment.
    package var isJoined: Bool

    package init(cut: Cut<Stage>? = nil, pace: Pace? = nil, delay: Duration? = nil, isJoined: Bool = false) {
        (self.cut, self.pace, self.delay, self.isJoined) = (cut, pace, delay, isJoined)
    }

    /// As bytes come.
    package var isPlain: Bool { cut == nil && pace == nil && delay == nil && !isJoined }
}
