import CShims
import Glibc
import ProbeWire
import Synchronization

/// What the capture's owner, its claims and its thread share.
final class CaptureCore: Sendable {
    typealias Completion = @Sendable (FenceOutcome) -> Void

    struct State {
        var ports: CapturePorts
        /// What is in force for them.
        var filter: String
        var stores: [UInt16: PacketStore] = [:]
        /// Takes what no other one does.
        var everything: PacketStore?
        var fences = FenceLedger<Completion>()
        var statistics = CaptureStatistics()
        /// Set once, when nothing is captured any more.
        var ended: CaptureError?
        var stopRequested = false
        /// The handle's socket, for as long as the thread holds the handle.
        var descriptor: Int32
        /// Keeps the socket alive past the exit of the process, or -1.
        var keeper: Int32 = -1
    }

    let state: Mutex<State>
    let markers: FenceMarkers
    let linkType: Int32
    /// An eventfd that gets the thread out of its poll; closed with the core, when no thread can use it any more.
    let wakeDescriptor: Int32

    init(
        ports: CapturePorts, filter: String, markers: FenceMarkers, linkType: Int32, descriptor: Int32
    ) throws(CaptureError) {
        wakeDescriptor = probe_eventfd()
        guard wakeDescriptor >= 0 else { throw .system(call: "eventfd", code: errno) }
        state = Mutex(State(ports: ports, filter: filter, descriptor: descriptor))
        self.markers = markers
        self.linkType = linkType
    }

    deinit { Glibc.close(wakeDescriptor) }

    /// Undoes `leaveClosingToKernel`.
    func dropKeeper() {
        state.withLock { state in
            if state.keeper >= 0 { Glibc.close(state.keeper) }
            state.keeper = -1
        }
    }

    func wake() {
        var one: UInt64 = 1
        // Fails only when the counter is at its limit, and then the thread is awake.
        _ = write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    func clearWake() {
        var count: UInt64 = 0
        // Fails only when another reason woke the thread and there is nothing to clear.
        _ = read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// Where the packet belongs. Of two claimed ports it is the lower one: the run gives its listeners ports below the kernel's
    /// range for outgoing connections, so that one is the listener's.
    ///
    /// nil for a packet whose ports nobody named. Such ones come before the handle has its first filter, and through a filter that
    /// had to join ranges.
    func store(source: UInt16, destination: UInt16) -> PacketStore? {
        state.withLock { state in
            if let claimed = state.stores[min(source, destination)] ?? state.stores[max(source, destination)] {
                return claimed
            }
            return state.ports.contains(source) || state.ports.contains(destination) ? state.everything : nil
        }
    }

    func release(_ store: PacketStore, port: UInt16) {
        state.withLock { state in
            if state.stores[port] === store { state.stores[port] = nil }
            if state.everything === store { state.everything = nil }
        }
    }

    /// Nothing is captured any more: tells all who wait, and those who come later.
    func end(_ error: CaptureError) {
        let waiting = state.withLock { state in
            if state.ended == nil { state.ended = error }
            state.descriptor = -1
            return state.fences.removeAll()
        }
        for completion in waiting { completion(.failed(error)) }
    }
}
