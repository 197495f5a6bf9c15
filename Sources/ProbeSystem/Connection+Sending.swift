package import ProbeBase
import CShims
import Glibc

extension Connection {
    /// Of more cut sends the wire is not asked: a proxy makes one of each piece.
    private static let mostCutSends = 4096

    /// Queues an operation behind those that are not done, and begins it if there are none.
    package func send(_ operation: SendOperation) {
        operation.streamOffset = bytesSent + outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken }
        outgoing.append(operation)
        if operation.isCut || operation.carriesFIN, cutSends.count < Self.mostCutSends { cutSends.append(operation) }
        if outgoing.count == 1 { pump() }
        updateInterest()
    }

    /// Whether no send is queued or under way.
    package var isIdle: Bool { outgoing.isEmpty }

    /// The number of sends that the kernel has not taken completely.
    package var unfinishedSends: Int { outgoing.count }

    /// The bytes of sends that the kernel has not taken yet.
    package var untaken: Int { outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken } }

    /// When a send last made progress, or until when one waits for its pace. A send that is queued behind another has
    /// not stalled while that one makes progress.
    package var lastProgress: MonotonicTime? { outgoing.map(\.lastProgressOrPace).max() }

    func pump() {
        while let operation = outgoing.first {
            guard advance(operation) else { return }
            outgoing.removeFirst()
            lastWasCut = operation.isCut
            notifyChange()
        }
    }

    /// Continues an operation; returns whether it has ended.
    private func advance(_ operation: SendOperation) -> Bool {
        operation.state = .underWay
        while operation.piece < operation.ends.count {
            let now = MonotonicTime.now
            let start = operation.piece == 0 ? 0 : operation.ends[operation.piece - 1]
            let end = operation.ends[operation.piece]
            if operation.taken == start {
                // The previous piece must have left the kernel before this one is written, or they could share a
                // segment.
                if operation.isCut || lastWasCut, !hasLeft(operation, now: now) { return false }
                if let earliest = operation.earliestDeparture(), now < earliest {
                    pumpLater(at: earliest)
                    return false
                }
                if operation.begun == nil { operation.begun = now }
            }
            guard write(operation, upTo: end) else {
                if case .failed = operation.state { return true }
                return false
            }
            operation.departures.append(.now)
            operation.piece += 1
        }
        operation.state = .done(.now)
        if operation.carriesFIN {
            (isHalfClosed, endedAt) = (true, .now)
            if shutdown(raw, Int32(SHUT_WR)) < 0 { operation.state = .failed(SystemError("shutdown"), .now) }
        }
        return true
    }

    /// Whether the kernel has nothing unsent (SIOCOUTQNSD); of a Unix socket, whether the peer has read everything, since there is nothing
    /// that the bytes leave by. The kernel gives no notice of either, so it is polled.
    private func hasLeft(_ operation: SendOperation, now: MonotonicTime) -> Bool {
        let unsent = isUnix ? unreadByPeer : max(0, Int(probe_unsent_bytes(raw)))
        if unsent == 0 { return true }
        if unsent != operation.unsentSeen {
            operation.unsentSeen = unsent
            operation.lastProgress = now
        }
        // An eighth of the wait so far, between 20 us and 2 ms: a short wait ends promptly, a long one costs little CPU time.
        let waited = (now - operation.lastProgress).nanoseconds
        pumpLater(at: now + .nanoseconds(min(2_000_000, max(20_000, waited / 8))))
        return false
    }

    /// What the peer has not read yet, in the kernel's own count, which is 0 when it has read all.
    private var unreadByPeer: Int {
        var count: Int32 = 0
        return ioctl(raw, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }

    private func pumpLater(at time: MonotonicTime) {
        if let sendTimer { reactor.cancel(sendTimer) }
        sendTimer = reactor.schedule(at: time) { [weak self] in
            guard let self, self.raw >= 0 else { return }
            self.sendTimer = nil
            self.pump()
            self.updateInterest()
        }
    }

    /// Writes up to `end`; returns whether the kernel has taken all of it.
    private func write(_ operation: SendOperation, upTo end: Int) -> Bool {
        while operation.taken < end {
            let (stop, flags) = operation.nextWrite(upTo: end, to: raw)
            let count = operation.bytes.withUnsafeBytes { bytes in
                Glibc.send(raw, bytes.baseAddress! + operation.taken, stop - operation.taken, flags)
            }
            if count > 0 {
                operation.taken += count
                bytesSent += count
                operation.lastProgress = .now
                lastSent = operation.lastProgress
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                wantsWrite = true
                return false
            default:
                let error = SystemError("send")
                operation.state = .failed(error, .now)
                if error.code == ECONNRESET {
                    // The kernel reports an RST once, and has now reported it to `send`.
                    resetWasTaken = true
                    if reading == .atOnce { drain() }
                }
                return false
            }
        }
        return true
    }
}
