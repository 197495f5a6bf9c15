/// How a proxy forwards the bytes of one direction.
package struct ForwardStyle<Stage: StatementStage>: Sendable {
    /// Where bytes are cut. Offsets are counted from the byte at which the style takes effect; random cuts are 1 to 64
    /// bytes apart.
    package var cut: Cut<Stage>?
    package var pace: Pace?
    /// The time from the arrival of bytes until they are forwarded.
    package var delay: Duration?
    /// Whether bytes are collected until none have arrived for a moment, and forwarded in one write.
    package var isJoined: Bool

    package init(cut: Cut<Stage>? = nil, pace: Pace? = nil, delay: Duration? = nil, isJoined: Bool = false) {
        (self.cut, self.pace, self.delay, self.isJoined) = (cut, pace, delay, isJoined)
    }

    /// Whether bytes are forwarded as they arrive.
    package var isPlain: Bool { cut == nil && pace == nil && delay == nil && !isJoined }
}
