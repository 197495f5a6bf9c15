/// A piece of one direction's stream, handed out as soon as it is in order.
package struct StreamPart: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case bytes([UInt8])
        /// Bytes that are missing from the capture; what follows is handed out after it.
        case gap(StreamGap)
    }

    /// The offset in the stream: 0 is the first byte after the SYN.
    package var offset: Int64
    package var content: Content

    package init(offset: Int64, _ content: Content) {
        self.offset = offset
        self.content = content
    }
}

/// Bytes of a stream that the capture does not hold. They are reported and never filled in.
package struct StreamGap: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// No packet with the bytes was captured, and the stream continued.
        case notCaptured
        /// The packet with the bytes was captured, but cut short by the snap length.
        case cutShort
        /// The bytes were given up because as many as `ConversationLimits` allows were waiting after them.
        case limitReached
    }

    /// The offset in the stream: 0 is the first byte after the SYN.
    package var offset: Int64
    package var length: Int64
    package var cause: Cause

    package var end: Int64 { offset + length }

    package init(offset: Int64, length: Int64, cause: Cause) {
        self.offset = offset
        self.length = length
        self.cause = cause
    }
}
