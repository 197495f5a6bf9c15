import ProbeBase
import CShims
import Glibc
import ProbeWire
import Synchronization

/// The state shared by a capture's owner, its subscriptions and its thread.
final class CaptureCore: Sendable {
    typealias Completion = @Sendable (FenceOutcome) -> Void

    struct State {
        var ports: CapturePorts
        /// The filter expression for `ports`, attached to the capture's socket.
        var filter: String
        var router = ConnectionRouter<PacketStore>()
        /// The store for packets that belong to no other subscription.
        var everything: PacketStore?
        var fences = FenceLedger<Completion>()
        var statistics = CaptureStatistics()
        /// The reason why the capture has ended; `nil` while it is running.
        var ended: CaptureError?
        var stopRequested = false
        /// The descriptor of the socket of the libpcap handle; -1 once the capture's thread no longer holds the handle.
        var descriptor: Int32
        /// A descriptor that keeps the capture's socket alive until the process has exited; -1 if there is no such
        /// descriptor.
        var retainedDescriptor: Int32 = -1
    }

    let state: Mutex<State>
    let markers: FenceMarkers
    let linkType: Int32
    /// An eventfd that wakes the thread from `poll`. The eventfd is closed when this object is released, at which time
    /// no thread uses the eventfd any longer.
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

    /// Reverts `leaveClosingToKernel`.
    func closeRetainedDescriptor() {
        state.withLock { state in
            if state.retainedDescriptor >= 0 { Glibc.close(state.retainedDescriptor) }
            state.retainedDescriptor = -1
        }
    }

    func wake() {
        var one: UInt64 = 1
        // `write` fails only if the eventfd's counter is at its limit. The thread is then already about to wake up.
        _ = write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    func clearWake() {
        var count: UInt64 = 0
        // `read` fails only if the thread woke up for another reason. There is then nothing to clear.
        _ = read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// Delivers a segment's packet to the owners of its connection or, if the connection has no owner, to the
    /// subscription to all packets.
    ///
    /// A segment is dropped if no subscription named one of its ports. Such a segment may arrive before the filter is
    /// attached, or pass a filter whose port ranges had to be joined.
    func deliver(_ segment: DecodedTCP, _ packet: @autoclosure () -> CapturedPacket, time: UInt64) {
        let (route, everything) = state.withLock { state -> (ConnectionRouter<PacketStore>.Route?, PacketStore?) in
            let isCrowdTraffic = state.ports.crowds.contains {
                $0.contains(source: segment.source.port, destination: segment.destination.port)
            }
            if isCrowdTraffic { return (nil, nil) }
            if let route = state.router.route(segment, time: time) { return (route, nil) }
            let isNamed = state.ports.contains(segment.source.port) || state.ports.contains(segment.destination.port)
            return (nil, isNamed ? state.everything : nil)
        }
        if let route {
            let packet = ConnectionPacket(packet: packet(), connection: route.connection)
            for owner in route.owners { owner.append(packet) }
        } else if let everything {
            everything.append(ConnectionPacket(packet: packet(), connection: 0))
        }
    }

    func subscribe(_ store: PacketStore, to scope: CaptureScope, since: UInt64) {
        state.withLock { $0.router.subscribe(store, to: scope, since: since) }
    }

    func unsubscribe(_ store: PacketStore, from scope: CaptureScope) {
        state.withLock { $0.router.unsubscribe(store, from: scope) }
    }

    func release(_ store: PacketStore) {
        state.withLock { state in
            state.router.release(store)
            if state.everything === store { state.everything = nil }
        }
    }

    /// Adds a port to the ports that the filter accepts.
    func add(port: UInt16) throws(CaptureError) { try change { $0.insert(port) } }

    /// Changes the ports that the filter accepts. Does nothing if the ports stay the same.
    func change(_ body: (inout CapturePorts) -> Void) throws(CaptureError) {
        // The lock is held so that the descriptor still belongs to the handle, and concurrent callers don't revert each
        // other's changes.
        try state.withLock { state throws(CaptureError) in
            if let ended = state.ended { throw ended }
            var ports = state.ports
            body(&ports)
            guard ports != state.ports else { return }
            let filter = ports.filterExpression(fencePort: markers.port)
            if filter != state.filter {
                try PcapHandle.attach(filter: filter, linkType: linkType, descriptor: state.descriptor)
            }
            state.ports = ports
            state.filter = filter
        }
    }

    /// Ends the capture. Pending fences and all later calls fail with the given error.
    func end(_ error: CaptureError) {
        let waiting = state.withLock { state in
            if state.ended == nil { state.ended = error }
            state.descriptor = -1
            return state.fences.removeAll()
        }
        for completion in waiting { completion(.failed(error)) }
    }
}
