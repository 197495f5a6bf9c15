package import ProbeWire

/// The right to the packets of one TCP port, in the order in which the kernel saw them. Released by `release()`, or when the
/// last reference goes.
///
/// What a fence promises holds for a claim: after it, every packet sent before it is in `packets`. Packets from before the
/// claim that the kernel had not given out yet are in it too: whoever uses a port a second time fences, and begins to
/// read at the `count` it then finds.
package final class CaptureClaim: Sendable {
    package let port: UInt16
    private let store: PacketStore
    private let core: CaptureCore

    init(port: UInt16, store: PacketStore, core: CaptureCore) {
        self.port = port
        self.store = store
        self.core = core
    }

    deinit { release() }

    /// Packets kept so far.
    package var count: Int { store.count }

    /// Whether packets were thrown away because the claim's memory was full. What is kept then has a gap, and what is judged
    /// from it is inconclusive.
    package var overflowed: Bool { store.overflowed }

    /// The packets from the one at `index` on; none when there are not that many. Costs the packets returned, and no copy of
    /// their bytes.
    package func packets(from index: Int = 0) -> [CapturedPacket] { store.packets(from: index) }

    /// The packets kept so far, which the claim then lets go of: for one that goes on for as long as it likes.
    package func take() -> [CapturedPacket] { store.take() }

    /// Ends the claim and drops its packets; later ones of the port are ignored. Doing it twice does no harm.
    package func release() {
        core.release(store, port: port)
        store.release()
    }
}
