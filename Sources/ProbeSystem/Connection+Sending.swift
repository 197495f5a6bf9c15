package import ProbeBase
import CShims
import Glibc

extension Connection {
    /// Queues a transmission behind those under way and begins it.
    package func send(_ transmission: SendOperation) {
        transmission.streamOffset = bytesSent + outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken }
        outgoing.append(transmission)
        if transmission.isCut { cutTransmissions.append(transmission) }
        if outgoing.count == 1 { pump() }
        updateInterest()
    }

    /// Whether nothing is queued or under way.
    package var isIdle: Bool { outgoing.isEmpty }

    /// Bytes of sends that the kernel has not taken yet.
    package var untaken: Int { outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken } }

    /// When last any send moved on, or the moment for which the pace of one lets it wait: what is queued behind another has not
    /// stalled while that one moves.
    package var lastProgress: MonotonicTime? { outgoing.map(\.lastProgressOrPace).max() }

    func pump() {
        while let transmission = outgoing.first {
            guard advance(transmission) else { return }
            outgoing.removeFirst()
            lastWasCut = transmission.isCut
            onChange()
        }
    }

    /// Moves a transmission on; true when it has ended.
    private func advance(_ transmission: SendOperation) -> Bool {
        transmission.state = .underWay
        while transmission.piece < transmission.ends.count {
            let now = MonotonicTime.now
            let start = transmission.piece == 0 ? 0 : transmission.ends[transmission.piece - 1]
            let end = transmission.ends[transmission.piece]
            if transmission.taken == start {
                // The piece has not begun: the one before must have left the kernel, or they would share a segment.
                if transmission.isCut || lastWasCut, !hasLeft(transmission, now: now) { return false }
                if let earliest = transmission.earliestDeparture(), now < earliest {
                    pumpLater(at: earliest)
                    return false
                }
                if transmission.begun == nil { transmission.begun = now }
            }
            guard write(transmission, upTo: end) else {
                if case .failed = transmission.state { return true }
                return false
            }
            transmission.departures.append(.now)
            transmission.piece += 1
        }
        transmission.state = .done(.now)
        return true
    }

    /// Whether the kernel has nothing unsent (SIOCOUTQNSD); nothing tells when, so it is asked again soon.
    private func hasLeft(_ transmission: SendOperation, now: MonotonicTime) -> Bool {
        let unsent = max(0, Int(probe_unsent_bytes(raw)))
        if unsent == 0 { return true }
        if unsent != transmission.unsentSeen {
            transmission.unsentSeen = unsent
            transmission.lastProgress = now
        }
        // A thousandth of the wait so far, but 20 us to 2 ms: prompt when it is a matter of microseconds, idle when it is not.
        let waited = (now - transmission.lastProgress).nanoseconds
        pumpLater(at: now + .nanoseconds(min(2_000_000, max(20_000, waited / 8))))
        return false
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

    /// Writes up to `end`; true when it is all taken.
    private func write(_ transmission: SendOperation, upTo end: Int) -> Bool {
        while transmission.taken < end {
            let flags = Int32(MSG_NOSIGNAL) | (transmission.isUrgent ? Int32(MSG_OOB) : 0)
            let count = transmission.bytes.withUnsafeBytes { bytes in
                Glibc.send(raw, bytes.baseAddress! + transmission.taken, end - transmission.taken, flags)
            }
            if count > 0 {
                transmission.taken += count
                bytesSent += count
                transmission.lastProgress = .now
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                wantsWrite = true
                return false
            default:
                let error = SystemError("send")
                transmission.state = .failed(error, .now)
                if error.code == ECONNRESET {
                    // The kernel tells of an RST once, and has now told `send`.
                    resetWasTaken = true
                    if reading == .atOnce { drain() }
                }
                return false
            }
        }
        return true
    }
}
