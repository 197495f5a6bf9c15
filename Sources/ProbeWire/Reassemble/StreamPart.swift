/// A part of one direction's stream. It is delivered to the caller as soon as it is in order.
package struct StreamPart: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case bytes([UInt8])
        /// A range of bytes that are missing from the capture. The bytes after the gap are delivered in the next part.
        case gap(StreamGap)
    }

    /// The offset of the part in the stream. The first byte after the SYN has the offset 0.
    package var offset: Int64
    package var content: Content

    package init(offset: Int64, _ content: Content) {
        self.offset = offset
        self.content = content
    }
}

/// A range of bytes of a stream that the capture does not contain. Gaps are reported and never filled in.
package struct StreamGap: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// No packet with the bytes was captured, and the stream continued.
        case notCaptured
        /// The packet with the bytes was captured, but the snap length cut it short.
        case cutShort
        /// The bytes were skipped because the bytes waiting after them reached the limit in `ConversationLimits`.
        case limitReached
    }

    /// The offset of the gap in the stream. The first byte after the SYN has the offset 0.
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
