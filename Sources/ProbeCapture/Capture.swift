import CShims
import Glibc
import ProbeSystem
import Synchronization

/// One live capture on loopback, shared by a whole run.
///
/// The packets of a connection that belongs to a subscription are kept for the subscription; all other packets are
/// dropped at once. A fence completes when everything sent before it has been delivered to the subscriptions. If the
/// capture fails, every fence reports the failure: a fence never hangs, and never reports success by mistake.
package final class Capture: Sendable {
    /// The default size of the kernel's ring, in bytes. The ring contains each packet only once, so 4 MiB holds about
    /// 25,000 small packets. Opening a ring of 4 MiB takes half as long as opening a ring of 8 MiB.
    package static let defaultBufferSize = 4 << 20
    /// The size of the kernel's ring for a run of many cases. The time to open the ring doesn't matter in such a run.
    /// If two cases send megabytes in parallel while other cases compete for the processors, these two cases can fill a
    /// ring of 4 MiB before the capture's thread is scheduled.
    package static let largeBufferSize = 32 << 20
    /// The default maximum number of bytes that one subscription keeps before it overflows.
    package static let defaultSubscriptionLimit = 256 << 20

    let core: CaptureCore
    /// The capture's thread; `nil` once it has been joined or detached.
    private let thread: Mutex<WorkerThread?>

    /// The DLT value of the packets' link header: 1 (Ethernet) on Linux's loopback.
    package var linkType: Int32 { core.linkType }

    private init(core: CaptureCore, thread: consuming WorkerThread) {
        self.core = core
        self.thread = Mutex(thread)
    }

    deinit { close() }

    /// Opens a capture. The call takes about 9 ms, mostly waiting for the kernel, so it should be made in parallel with
    /// other work.
    /// - Parameter interface: a loopback interface.
    /// - Parameter ports: the TCP ports to capture; `add(port:)` can add other ports later.
    /// - Parameter bufferSize: the size of the kernel's ring, in bytes.
    package static func open(
        interface: String = "lo", ports: CapturePorts, bufferSize: Int = defaultBufferSize
    ) throws(CaptureError) -> Capture {
        // As much as possible is set up before the ring begins to fill.
        let markers = try FenceMarkers()
        let filter = ports.filterExpression(fencePort: markers.port)
        var handle = try PcapHandle(interface: interface, bufferSize: Int32(clamping: bufferSize))
        // Link type 1 is DLT_EN10MB, the only link type of Linux's loopback interface.
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

    /// Adds a TCP port to the capture. Packets on the port are captured once the function has returned. No packets on
    /// other ports are lost during the call.
    package func add(port: UInt16) throws(CaptureError) { try core.add(port: port) }

    /// Returns a subscription without any connections; `PortSubscription.add` adds them.
    /// - Parameter limit: the maximum number of bytes that the subscription keeps.
    package func subscribe(limit: Int = defaultSubscriptionLimit) -> PortSubscription {
        PortSubscription(store: PacketStore(limit: limit), core: core)
    }

    /// Returns a subscription to all packets that pass the filter from now on and belong to no other subscription.
    /// - Parameter limit: the maximum number of bytes that the subscription keeps until its packets are taken.
    package func subscribeToAll(limit: Int = defaultSubscriptionLimit) -> PortSubscription {
        let store = PacketStore(limit: limit)
        core.state.withLock { $0.everything = store }
        return PortSubscription(store: store, core: core)
    }

    /// Returns the packet counts as of the most recently read packet. The counts are exact after a fence.
    package func statistics() -> CaptureStatistics { core.state.withLock { $0.statistics } }

    /// Stops the capture's thread and closes the libpcap handle. Pending and later fences complete with
    /// `.failed(.closed)`; subscriptions keep their packets. The call takes 20 to 30 ms, during which the kernel waits
    /// for its RCU grace periods.
    package func close() {
        core.state.withLock { $0.stopRequested = true }
        core.wake()
        guard let running = thread.withLock({ $0.take() }) else { return }
        core.closeRetainedDescriptor()
        if running.isCurrent {
            // The last reference to the capture was released by a fence's completion on the capture's own thread, and a
            // thread can't join itself.
            running.detach()
        } else {
            running.join()
        }
    }

    /// Lets the kernel close the handle after the process has exited, instead of delaying the exit by 20 to 30 ms.
    ///
    /// The capture, its subscriptions and its fences keep working until the exit, and `close()` still closes the handle
    /// at once. To save the time, call this function, keep the capture until the process exits, and don't call
    /// `close()`.
    /// - Returns: whether the call succeeded. If the call fails, the only consequence is that the exit takes longer.
    @discardableResult
    package func leaveClosingToKernel() -> Bool {
        core.state.withLock { state in
            guard state.descriptor >= 0, !state.stopRequested else { return false }
            if state.retainedDescriptor < 0 { state.retainedDescriptor = probe_release_after_exit(state.descriptor) }
            return state.retainedDescriptor >= 0
        }
    }
}

// How a fence works. The kernel releases packets in blocks of 256 KiB, and a block that is not full stays invisible for
// up to a second. Therefore a fence sends a marker, a small datagram with a unique number, followed by fillers that
// together don't fit into any block. Every block that was open when the marker arrived is closed and released,
// including the block with the marker. Packets are delivered in the order of the ring, and loopback puts a packet into
// the ring within the call that sends it: once the marker is captured, everything sent before it has been delivered.
// The fillers are needed only to release the blocks.
//
// The calling thread sends the marker, so that the marker is queued after the thread's own packets even if the kernel
// has deferred part of the work on that processor. The capture's thread sends the fillers, so that one set of fillers
// serves all pending fences, and the calling thread spends only a few microseconds. A marker that was dropped because
// the ring was full is sent again until it is captured.
extension Capture {
    /// Calls `completion` when everything sent on loopback before this call has been delivered to the subscriptions,
    /// or after `timeout` at the latest.
    /// - Parameter completion: called once, on the capture's thread or, if the capture has ended, on the caller's
    ///   thread. The closure must not block, and must not close the capture.
    package func fence(timeout: Duration, completion: @escaping @Sendable (FenceOutcome) -> Void) {
        let (seconds, attoseconds) = timeout.components
        // Timeouts are limited to half of Int64's range, which is 146 years, so that adding a timeout to the current
        // time can't overflow.
        let span = Int64(clamping: max(0, min(seconds, Int64.max / 2_000_000_000))) * 1_000_000_000
        let deadline = probe_monotonic_ns() + span + max(0, attoseconds / 1_000_000_000)
        core.fence(deadline: deadline, completion: completion)
    }

    /// Returns when everything sent on loopback before this call has been delivered to the subscriptions, or after
    /// `timeout` at the latest.
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
                // A fence is completed by the thread that removes it from the ledger. The capture's thread may already
                // have removed this fence.
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
    /// All packets sent before the fence have been delivered to their subscriptions. `dropped` is the number of dropped
    /// packets since the capture was opened. If `dropped` is higher than at an earlier fence, packets between the two
    /// fences are missing.
    case caughtUp(dropped: Int)
    case timedOut
    case failed(CaptureError)
}

extension Capture {
    /// Opens a capture, and waits for a first fence, after which no packet is missed.
    ///
    /// - Parameters:
    ///   - bufferSize: the size of the kernel's ring, in bytes.
    ///   - done: called once. If the capture can't be opened, the closure is called before this function returns;
    ///     otherwise, it is called on the capture's thread and must not block.
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

/// The reason why a capture is not available.
package enum CaptureOpeningError: Error, Sendable {
    case failed(CaptureError)
    /// The capture was opened, but its first fence timed out.
    case deliversNothing
}
