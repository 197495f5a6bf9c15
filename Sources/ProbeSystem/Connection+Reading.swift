import ProbeBase
import CShims
import Glibc

extension Connection {
    /// Executes `stop reading`, `resume reading` and `read 1B every 100ms`.
    package func setReading(_ mode: Reading) {
        reading = mode
        if let readTimer { reactor.cancel(readTimer) }
        readTimer = nil
        guard phase == .open, raw >= 0 else { return }
        updateInterest()
        switch mode {
        case .atOnce:
            // Reading here makes the descriptor unready, so the reactor would not tell those who wait for these bytes.
            receive()
            notifyChange()
        case .stopped: break
        case .slowly(let bytes, let interval): tick(bytes: bytes, every: interval)
        }
    }

    /// Reads so many bytes after each interval, until the mode changes.
    func tick(bytes: Int, every interval: Duration) {
        readTimer = reactor.schedule(at: .now + interval) { [weak self] in
            guard let self, self.raw >= 0, self.readEnd == nil else { return }
            _ = self.receiveOnce(limit: bytes)
            self.tick(bytes: bytes, every: interval)
            self.notifyChange()
        }
    }

    /// Reads until the kernel has nothing more, the direction has ended, or the receive buffer is full.
    package func receive() {
        guard raw >= 0, phase == .open else { return }
        // At most 4 MiB at a time, also if the peer never stops sending, so that timers and other descriptors are
        // served.
        var rounds = 0
        while rounds < 64, receiveOnce(limit: 65536) == 65536 { rounds += 1 }
        updateInterest()
    }

    /// Reads until the kernel has nothing more. One short read does not suffice, because `recv` also stops at an urgent
    /// byte.
    func drain() {
        guard raw >= 0, phase == .open else { return }
        // A peer that never stops sending would keep the reactor here.
        var rounds = 0
        while rounds < 2048, !hasOverflowed, receiveOnce(limit: 65536) > 0 { rounds += 1 }
        updateInterest()
    }

    /// Reads and discards what is in the kernel, at most 4 MiB if the peer never stops sending.
    func discard() {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
            for _ in 0..<64 where recv(raw, buffer.baseAddress, buffer.count, 0) <= 0 { return }
        }
    }

    /// One `recv`.
    ///
    /// - Returns: the number of bytes read; 0 if none are there or the direction has ended.
    private func receiveOnce(limit: Int) -> Int {
        guard readEnd == nil, !hasOverflowed else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: min(limit, 65536), alignment: 1) { buffer in
            while true {
                let count = recv(raw, buffer.baseAddress, buffer.count, 0)
                if count > 0 {
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[0..<count])
                    let now = MonotonicTime.now
                    lastRead = now
                    if let layer {
                        layer.receive(bytes, at: now) { receiveBuffer.append($0, at: now) }
                    } else {
                        receiveBuffer.append(bytes, at: now)
                    }
                    if receiveBuffer.count + (layer?.held ?? 0) > Connection.receiveLimit { hasOverflowed = true }
                    return count
                }
                if count == 0 {
                    end(resetWasTaken ? .reset(.now) : .eof(.now))
                    return 0
                }
                switch errno {
                case EINTR: continue
                case EAGAIN: return 0
                case ECONNRESET:
                    end(.reset(.now))
                    return 0
                default:
                    end(.failed(SystemError("recv"), .now))
                    return 0
                }
            }
        }
    }

    func readUrgent() {
        var byte: UInt8 = 0
        if recv(raw, &byte, 1, Int32(MSG_OOB)) == 1 { urgent.append([byte], at: .now) }
    }

    /// Whether the peer's direction has ended behind bytes that `recv` has not returned yet. Does not tell FIN from
    /// RST, and consumes nothing.
    package var endIsPending: Bool {
        guard raw >= 0, readEnd == nil else { return false }
        var poller = pollfd(fd: raw, events: Int16(PROBE_EPOLLRDHUP), revents: 0)
        return poll(&poller, 1, 0) > 0
    }

    /// Whether `recv` would return bytes or an end.
    package var hasUnread: Bool { readEnd == nil && (endIsPending || unreadInKernel > 0) }

    /// Unread bytes in the kernel that keep it from being closed by a FIN: reading is stopped or slow. TLS reads them first.
    package var unreadAtClose: Int {
        phase == .open && readEnd == nil && !mayReadOn && layer == nil ? unreadInKernel : 0
    }

    /// The number of bytes that `recv` has not returned yet.
    package var unreadInKernel: Int {
        var count: Int32 = 0
        guard raw >= 0, ioctl(raw, UInt(FIONREAD), &count) == 0 else { return 0 }
        return Int(count)
    }
}
