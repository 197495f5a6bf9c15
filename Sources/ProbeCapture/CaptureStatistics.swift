/// Packet counts since the capture was opened, as reported by libpcap.
package struct CaptureStatistics: Sendable, Equatable {
    /// The number of packets that passed the filter, including fence markers and dropped packets.
    package var received: Int
    /// The number of packets that were dropped because the ring was full. Judgments about the period in which packets
    /// were dropped are inconclusive.
    package var dropped: Int
    /// The number of packets that the interface dropped; always 0 on loopback.
    package var interfaceDropped: Int

    package init(received: Int = 0, dropped: Int = 0, interfaceDropped: Int = 0) {
        self.received = received
        self.dropped = dropped
        self.interfaceDropped = interfaceDropped
    }
}
