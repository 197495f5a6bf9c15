/// How a proxy forwards the bytes of one direction.
package struct ForwardStyle<Stage: StatementStage>: Sendable {
    /// The offsets at which the stream is cut. They are counted from the first byte to which the style applies; random
    /// cuts are 1 to 64 bytes apart.
    package var cut: Cut<Stage>?
    package var pace: Pace?
    /// The time between the arrival of bytes and their forwarding.
    package var delay: Duration?
    /// Whether bytes are collected until no more bytes arrive for a short time, and then forwarded in a single write.
    package var isJoined: Bool

    package init(cut: Cut<Stage>? = nil, pace: Pace? = nil, delay: Duration? = nil, isJoined: Bool = false) {
        (self.cut, self.pace, self.delay, self.isJoined) = (cut, pace, delay, isJoined)
    }

    /// Whether bytes are forwarded as soon as they arrive.
    package var isPlain: Bool { cut == nil && pace == nil && delay == nil && !isJoined }
}
