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
