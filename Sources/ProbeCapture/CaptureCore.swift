import ProbeBase
import CShims
import Glibc
import ProbeWire
import Synchronization

/// What the capture's owner, its subscriptions and its thread share.
final class CaptureCore: Sendable {
    typealias Completion = @Sendable (FenceOutcome) -> Void

    struct State {
        var ports: CapturePorts
        /// What is in force for them.
        var filter: String
        var router = ConnectionRouter<PacketStore>()
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

    /// Hands a segment's packet to the owners of its connection, or else to the subscription to everything.
    ///
    /// A segment is dropped where no subscription named one of its ports. Such ones come before the handle has its first filter, and through a
    /// filter that had to join ranges.
    func deliver(_ segment: DecodedTCP, _ packet: @autoclosure () -> CapturedPacket, time: UInt64) {
        let (route, everything) = state.withLock { state -> (ConnectionRouter<PacketStore>.Route?, PacketStore?) in
            let isOfCrowd = state.ports.crowds.contains {
                $0.contains(source: segment.source.port, destination: segment.destination.port)
            }
            if isOfCrowd { return (nil, nil) }
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

    /// Lets the packets of one more port through the filter.
    func add(port: UInt16) throws(CaptureError) { try change { $0.insert(port) } }

    /// Changes what the filter lets through, unless nothing differs then.
    func change(_ body: (inout CapturePorts) -> Void) throws(CaptureError) {
        // Under the lock, so that the descriptor is the handle's and two callers do not undo each other.
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
