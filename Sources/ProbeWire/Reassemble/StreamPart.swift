/// A piece of one direction's stream, handed out as soon as it is in order.
package struct StreamPart: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case bytes([UInt8])
        /// Missing from the capture; what follows is handed out behind it.
        case gap(StreamGap)
    }

    /// In the stream: 0 is the first byte after the SYN.
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
        /// No packet with them was captured, and the stream went on.
        case notCaptured
        /// The packet with them was captured, but cut short by the snap length.
        case cutShort
        /// Given up because as much as `ConversationLimits` allows was waiting behind them.
        case limitReached
    }

    /// Offset in the stream: 0 is the first byte after the SYN.
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
