/// Totals since the capture was opened, as libpcap counted them.
package struct CaptureStatistics: Sendable, Equatable {
    /// Packets that passed the filter, the fence's markers and the dropped ones among them.
    package var received: Int
    /// Packets that found no room in the ring: what was judged meanwhile is inconclusive.
    package var dropped: Int
    /// Packets that the interface dropped; always 0 on loopback.
    package var interfaceDropped: Int

    package init(received: Int = 0, dropped: Int = 0, interfaceDropped: Int = 0) {
        self.received = received
        self.dropped = dropped
        self.interfaceDropped = interfaceDropped
    }
}
