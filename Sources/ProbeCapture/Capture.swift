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

// How a fence works. The kernel gives packets out in blocks of 256 KiB, and one that is not full stays invisible for up to a
// second. So a fence sends a marker, a small datagram with a number of its own, and then fillers that no block has room for
// together. Every block that was open when the marker came is therefore closed and given out, the marker's own among them.
// Packets are handed on in the order of the ring, and loopback puts a packet into the ring within the call that sends it: once
// the marker is seen, everything sent before it has been handed on. It is the marker that counts and never a filler.
//
// The marker is sent by the thread that asks, so that it queues up behind that thread's own packets even where the kernel
// has put off part of the work for that processor. The fillers come from the capture thread: one lot serves all fences
// that wait, and the asking thread spends a few microseconds. A marker that found the ring full is sent again until it is seen.
extension Capture {
    /// Answers when everything sent on loopback before this call is with the subscriptions, and never later than `timeout`.
    /// - Parameter completion: called once, on the capture's thread or, when the capture has ended, on the caller's. It must
    ///   not block, and must not close the capture.
    package func fence(timeout: Duration, completion: @escaping @Sendable (FenceOutcome) -> Void) {
        let (seconds, attoseconds) = timeout.components
        // Half of Int64's range is 146 years: no sum with the clock overflows.
        let span = Int64(clamping: max(0, min(seconds, Int64.max / 2_000_000_000))) * 1_000_000_000
        let deadline = probe_monotonic_ns() + span + max(0, attoseconds / 1_000_000_000)
        core.fence(deadline: deadline, completion: completion)
    }

    /// Returns when everything sent on loopback before this call is with the subscriptions, and never later than `timeout`.
    package func fence(timeout: Duration) async -> FenceOutcome {
        await withCheckedContinuation { continuation in
            fence(timeout: timeout) { continuation.resume(returning: $0) }
        }
    }
}

extension CaptureCore {
    func fence(deadline: Int64, completion: @escaping Completion) {
        let registered: Result<UInt64, CaptureError> = state.withLock { state in
            if let ended = state.ended { return .failure(ended) }
            if state.stopRequested { return .failure(.closed) }
            return .success(state.fences.register(deadline: deadline, completion: completion))
        }
        switch registered {
        case .failure(let error):
            completion(.failed(error))
        case .success(let sequence):
            do throws(CaptureError) {
                try markers.sendMarker(sequence)
            } catch {
                // The one that takes it out of the ledger completes it; the thread may have been faster.
                if let waiting = state.withLock({ $0.fences.remove(sequence) }) { waiting(.failed(error)) }
                return
            }
            state.withLock { $0.fences.arm(sequence, now: probe_monotonic_ns()) }
            wake()
        }
    }
}

/// How a fence ended.
package enum FenceOutcome: Sendable, Equatable {
    /// All packets sent before the fence are with their subscriptions. `dropped` is the total since the capture was opened: a figure
    /// above the one of an earlier fence means that packets between the two are missing.
    case caughtUp(dropped: Int)
    case timedOut
    case failed(CaptureError)
}

extension Capture {
    /// Opens a capture, and waits for a first fence: from then on nothing is missed.
    ///
    /// - Parameters:
    ///   - bufferSize: bytes of the kernel's ring.
    ///   - done: called once. After a failed opening that is before this returns, else on the capture's thread, which it must not
    ///     block.
    package static func openCaughtUp(
        ports: CapturePorts, bufferSize: Int,
        done: @escaping @Sendable (Result<Capture, CaptureOpeningError>) -> Void
    ) {
        let capture: Capture
        do throws(CaptureError) {
            capture = try Capture.open(ports: ports, bufferSize: bufferSize)
        } catch {
            return done(.failure(.failed(error)))
        }
        capture.fence(timeout: .seconds(10)) { outcome in
            switch outcome {
            case .caughtUp: done(.success(capture))
            case .timedOut: done(.failure(.deliversNothing))
            case .failed(let error): done(.failure(.failed(error)))
            }
        }
    }
}

/// Why there is no capture.
package enum CaptureOpeningError: Error, Sendable {
    case failed(CaptureError)
    /// It was opened, and its first fence was not reached.
    case deliversNothing
}
