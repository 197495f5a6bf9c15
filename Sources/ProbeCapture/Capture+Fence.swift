import CShims
import Synchronization

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
