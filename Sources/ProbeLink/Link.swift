package import ProbeBase
import CShims
import Glibc
package import ProbeSystem
import Synchronization

/// Two networks and the wire between them.
///
/// Each network has an interface whose opposite end this object reads and writes. A thread forwards the frames
/// according to the decisions of ``LinkCore``.
///
/// Only descriptors of this process keep the link in existence, so nothing remains of the link once the process has
/// ended, for whatever reason.
package final class Link: Sendable {
    private struct State {
        var core = LinkCore()
        var fences: [Fence] = []
        var lastFence: UInt64 = 0
        var lost = 0
        var isClosed = false
        /// Whether a case is using the link.
        var isUsed = false
        var watch = StandstillWatch()
        /// Whether an MTU has been set on the link. The kernel caches a learned path MTU for minutes, so the link can't
        /// be reused.
        var hasNarrowHop = false
    }

    private struct Fence {
        var number: UInt64
        var isMissing: Set<LinkSide>
        var deadline: MonotonicTime
        var done: @Sendable (Bool) -> Void
    }

    /// The EtherType for local experiments (IEEE 802), which the ends use only for fence markers.
    private static let markerType: [UInt8] = [0x88, 0xb5]

    package let left: LinkEnd
    package let right: LinkEnd
    private let number: Int
    private let sockets: LinkSockets
    private let state = Mutex(State())
    private let wake: Int32
    private let timer: Int32
    private let epoll: Int32

    /// Creates a link.
    ///
    /// - Parameter number: a number from 0 to 255 that no other existing link has.
    init(_ number: Int, middle: NetworkNamespace) throws(SystemError) {
        self.number = number
        left = try LinkEnd(.left, of: number, middle: middle)
        right = try LinkEnd(.right, of: number, middle: middle)
        sockets = try middle.run { () throws(SystemError) in
            LinkSockets(
                left: try FrameSocket(interface: LinkEnd.interface(.left, of: number), receives: true),
                right: try FrameSocket(interface: LinkEnd.interface(.right, of: number), receives: true))
        }
        (wake, timer, epoll) = (probe_eventfd(), probe_timerfd(), probe_epoll_create())
        guard wake >= 0, timer >= 0, epoll >= 0 else { throw SystemError("epoll_create1") }
        for (raw, data) in [(sockets.left.descriptor, 0), (sockets.right.descriptor, 1), (wake, 2), (timer, 3)] {
            guard probe_epoll_set(epoll, PROBE_EPOLL_ADD, raw, PROBE_EPOLLIN, UInt64(data)) == 0 else {
                throw SystemError("epoll_ctl")
            }
        }
        try WorkerThread("link", signals: .blocked) { [self] in serve() }.detach()
    }

    deinit { for raw in [wake, timer, epoll] where raw >= 0 { Glibc.close(raw) } }

    // MARK: Commands

    /// Applies a fault or a state to the link. The fault or the state has taken effect when this method returns.
    ///
    /// - Parameters:
    ///   - id: a number that is unique among the link's commands.
    ///   - from: the side whose packets are affected; `nil` for both sides.
    package func apply(_ command: LinkCommand<Resolved>, id: Int, from side: LinkSide?) throws(LinkError) {
        try state.withLock { (state) throws(LinkError) in
            if case .mtu = command { state.hasNarrowHop = true }
            try state.core.apply(command, id: id, from: side, now: .now, wall: WallClock.now)
            send(&state)
        }
        signal()
    }

    /// Returns the records, from `index` on, of the packets that have crossed the link or were dropped on it.
    package func records(from index: Int) -> [LinkRecord] {
        state.withLock { state in
            index < state.core.records.count ? Array(state.core.records[index...]) : []
        }
    }

    /// The commands that did not have the requested effect, each with the packets that passed instead.
    package var shortfalls: [LinkShortfall] { state.withLock { $0.core.shortfalls } }
    /// Whether the log had no room for some records.
    package var overflowed: Bool { state.withLock { $0.core.overflowed } }

    /// The number of packets that were lost because the harness was too slow, not because of a fault.
    package var lostByHarness: Int {
        let dropped = sockets.left.dropped + sockets.right.dropped
        return state.withLock { state in
            state.lost += dropped
            return state.lost
        }
    }

    /// The stalls of the link's thread while a case was using the link.
    package var standstills: Standstills { state.withLock { $0.watch.standstills } }

    /// Calls `done`, on any thread, once the link has read everything that its ends sent before this call.
    ///
    /// - Parameter done: a callback whose argument states whether the link has read everything within `timeout`.
    package func fence(timeout: Duration, _ done: @escaping @Sendable (Bool) -> Void) {
        let number = state.withLock { state in
            state.lastFence += 1
            state.fences.append(
                Fence(number: state.lastFence, isMissing: [.left, .right], deadline: .now + timeout, done: done))
            return state.lastFence
        }
        // The source and destination addresses are the same, because both ends have the same MAC address.
        let address: [UInt8] = [2, 0, 0, 0, 0, 1]
        let count = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        let frame = address + address + Self.markerType + count + [UInt8](repeating: 0, count: 38)
        for end in [left, right] { _ = end.marker.send(frame) }
        signal()
    }

    private func signal() {
        var one: UInt64 = 1
        // The write fails only if the eventfd's counter is full. The descriptor is then readable anyway.
        _ = write(wake, &one, 8)
    }

    // MARK: The link's thread

    private func serve() {
        probe_timer_slack()
        var buffer = FrameBuffer()
        var data = [UInt64](repeating: 0, count: 4)
        var events = [UInt32](repeating: 0, count: 4)
        var due: MonotonicTime?
        while true {
            let patience = due == nil ? -1 : Int32(Standstills.heartbeat.nanoseconds / 1_000_000)
            let count = probe_epoll_wait(epoll, &data, &events, 4, patience)
            state.withLock { $0.watch.slept(due: due) }
            for index in 0..<max(0, Int(count)) {
                switch data[index] {
                case 0: read(sockets.left, .left, &buffer)
                case 1: read(sockets.right, .right, &buffer)
                default: clear(data[index] == 2 ? wake : timer)
                }
            }
            let (next, isClosed) = attend()
            if isClosed { return }
            due = next
        }
    }

    private func clear(_ raw: Int32) {
        var count: UInt64 = 0
        // The read fails only if the descriptor was not readable.
        _ = Glibc.read(raw, &count, 8)
    }

    private func read(_ socket: FrameSocket, _ side: LinkSide, _ buffer: inout FrameBuffer) {
        // At most four rounds are made per call, so that both directions are served in turn.
        for _ in 0..<4 {
            let count = buffer.read(socket)
            if count == 0 { return }
            let reached: [Fence] = state.withLock { state in
                var reached: [Fence] = []
                for index in 0..<count {
                    let (now, wall) = (MonotonicTime.now, WallClock.now)
                    let frame = buffer.frame(index)
                    if frame.count >= 22, frame[12] == Self.markerType[0], frame[13] == Self.markerType[1] {
                        reached += Self.takeMarker(frame, side, &state)
                        continue
                    }
                    state.core.receive(frame, from: side, now: now, wall: wall)
                }
                send(&state)
                return reached
            }
            for fence in reached { fence.done(true) }
            if count < 64 { return }
        }
    }

    private static func takeMarker(_ frame: [UInt8], _ side: LinkSide, _ state: inout State) -> [Fence] {
        let number = frame[14..<22].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        for index in state.fences.indices where state.fences[index].number <= number {
            state.fences[index].isMissing.remove(side)
        }
        let reached = state.fences.filter(\.isMissing.isEmpty)
        if !reached.isEmpty { state.fences.removeAll(where: \.isMissing.isEmpty) }
        return reached
    }

    /// Performs everything that is due, and arms the timer.
    ///
    /// - Returns: the time at which the thread must wake up again, or `nil` if no case is using the link; and whether
    ///   the link has been closed.
    private func attend() -> (due: MonotonicTime?, isClosed: Bool) {
        let (late, due, isClosed): ([Fence], MonotonicTime?, Bool) = state.withLock { state in
            let now = MonotonicTime.now
            if let deadline = state.core.nextDeadline, deadline <= now {
                state.core.tick(now: now, wall: WallClock.now)
                send(&state)
            }
            let late = state.fences.filter { $0.deadline <= now || state.isClosed }
            if !late.isEmpty { state.fences.removeAll { fence in late.contains { $0.number == fence.number } } }
            let next = ([state.core.nextDeadline] + state.fences.map { Optional($0.deadline) }).compactMap(\.self).min()
            _ = probe_timerfd_set(timer, next.map { max(1, $0.nanoseconds) } ?? 0)
            state.watch.worked()
            return (late, state.isUsed ? next ?? .distantFuture : nil, state.isClosed)
        }
        for fence in late { fence.done(false) }
        return (due, isClosed)
    }

    /// Sends the outgoing frames.
    ///
    /// Called with the lock held, so that frames created by a step and frames sent by the ends are sent in a single
    /// order.
    private func send(_ state: inout State) {
        guard state.core.hasOutgoing else { return }
        for frame in state.core.takeOutgoing() {
            let socket = frame.to == .left ? sockets.left : sockets.right
            // A truncated frame is shorter than its header states. The kernel accepts it anyway.
            if !socket.send(frame.bytes) { state.lost += 1 }
        }
    }

    // MARK: Reuse and closing

    /// Marks the link as used by a case.
    func begin() {
        state.withLock { $0.isUsed = true }
        signal()
    }

    /// Resets the link so that another case can use it.
    ///
    /// - Returns: `false` if the link can't be reused because effects of the last case remain.
    func recycle() -> Bool {
        let canBeReused = state.withLock { state in !state.hasNarrowHop && state.fences.isEmpty && state.lost == 0 }
        guard canBeReused, [left, right].allSatisfy(\.namespace.isQuiet) else { return false }
        state.withLock { ($0.core, $0.isUsed, $0.watch) = (LinkCore(), false, StandstillWatch()) }
        return true
    }

    /// Ends the link's thread. The networks are removed when the last reference to the link is released.
    func close() {
        state.withLock { $0.isClosed = true }
        signal()
    }
}

/// The two ends of the link's wire.
struct LinkSockets: Sendable {
    let left: FrameSocket
    let right: FrameSocket
}
