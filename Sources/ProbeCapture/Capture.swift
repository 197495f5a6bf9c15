import CShims
import Glibc
import ProbeSystem
import Synchronization

/// One live capture on loopback, shared by a whole run.
///
/// Packets of a subscribed connection are kept for its subscription, all others are dropped at once. A fence answers when everything
/// sent before it is with the subscriptions. When the capture fails, every fence says so: it never hangs and never pretends.
package final class Capture: Sendable {
    /// Bytes of the kernel's ring. With each packet in it once, 4 MiB hold about 25,000 small packets, and cost half of what 8 MiB do
    /// to open.
    package static let defaultBufferSize = 4 << 20
    /// For a run of many cases, where opening weighs nothing: two cases that send megabytes side by side, while others want the
    /// processors, fill 4 MiB before the capture's thread gets its turn.
    package static let largeBufferSize = 32 << 20
    /// Bytes that one subscription keeps before it overflows.
    package static let defaultSubscriptionLimit = 256 << 20

    let core: CaptureCore
    /// `nil` once the thread has been joined.
    private let thread: Mutex<WorkerThread?>

    /// DLT value of the packets' link header: 1 (Ethernet) on Linux's loopback.
    package var linkType: Int32 { core.linkType }

    private init(core: CaptureCore, thread: consuming WorkerThread) {
        self.core = core
        self.thread = Mutex(thread)
    }

    deinit { close() }

    /// Opens a capture; takes about 9 ms, most of it waiting for the kernel, so it is worth doing beside something else.
    /// - Parameter interface: a loopback interface.
    /// - Parameter ports: TCP ports to let through; `add(port:)` widens them.
    /// - Parameter bufferSize: bytes of the kernel's ring.
    package static func open(
        interface: String = "lo", ports: CapturePorts, bufferSize: Int = defaultBufferSize
    ) throws(CaptureError) -> Capture {
        // What can be made before the ring begins to fill is made before.
        let markers = try FenceMarkers()
        let filter = ports.filterExpression(fencePort: markers.port)
        var handle = try PcapHandle(interface: interface, bufferSize: Int32(clamping: bufferSize))
        // DLT_EN10MB, the only one that Linux's loopback has.
        guard handle.linkType == 1 else {
            throw .libpcap("link type \(handle.linkType) of \(interface) is not supported")
        }
        try PcapHandle.attach(filter: filter, linkType: handle.linkType, descriptor: handle.descriptor)
        try handle.begin()
        let core = try CaptureCore(
            ports: ports, filter: filter, markers: markers, linkType: handle.linkType, descriptor: handle.descriptor)
        let thread = try CaptureThread.start(CaptureThread(handle: handle, core: core))
        return Capture(core: core, thread: thread)
    }

    /// Lets the packets of one more TCP port through. In force when it returns, and nothing of the other ports is lost meanwhile.
    package func add(port: UInt16) throws(CaptureError) { try core.add(port: port) }

    /// A subscription of no connection yet: `PortSubscription.add` says which.
    /// - Parameter limit: bytes that the subscription keeps at most.
    package func subscribe(limit: Int = defaultSubscriptionLimit) -> PortSubscription {
        PortSubscription(store: PacketStore(limit: limit), core: core)
    }

    /// From now on keeps all packets that the filter lets through and that belong to no other subscription.
    /// - Parameter limit: bytes that the subscription keeps at most, until they are taken.
    package func subscribeToAll(limit: Int = defaultSubscriptionLimit) -> PortSubscription {
        let store = PacketStore(limit: limit)
        core.state.withLock { $0.everything = store }
        return PortSubscription(store: store, core: core)
    }

    /// Totals as of the last packets that were read; exact after a fence.
    package func statistics() -> CaptureStatistics { core.state.withLock { $0.statistics } }

    /// Stops the thread and closes the handle. Fences that wait, and later ones, answer `.failed(.closed)`; subscriptions keep what
    /// they have. Takes 20 to 30 ms, in which the kernel waits out its grace periods.
    package func close() {
        core.state.withLock { $0.stopRequested = true }
        core.wake()
        guard let running = thread.withLock({ $0.take() }) else { return }
        core.dropKeeper()
        if running.isCurrent {
            // The last reference went in a fence's completion, on the thread itself, which ends by itself.
            running.detach()
        } else {
            running.join()
        }
    }

    /// For the end of the process, which otherwise waits 20 to 30 ms in its exit until the kernel has closed the handle: the
    /// kernel then does it after the process has gone. Capture, subscriptions and fences go on until the exit, and `close()` still
    /// closes at once; so a caller that wants to save the time calls this, does not close, and keeps the capture to the end.
    /// - Returns: whether it worked. If not, the exit takes its time, and nothing else is lost.
    @discardableResult
    package func leaveClosingToKernel() -> Bool {
        core.state.withLock { state in
            guard state.descriptor >= 0, !state.stopRequested else { return false }
            if state.keeper < 0 { state.keeper = probe_release_after_exit(state.descriptor) }
            return state.keeper >= 0
        }
    }
}
