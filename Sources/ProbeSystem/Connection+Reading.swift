import ProbeBase
import CShims
import Glibc

extension Connection {
    /// `stop reading`, `resume reading`, `read 1B every 100ms`.
    package func setReading(_ mode: Reading) {
        reading = mode
        if let readTimer { reactor.cancel(readTimer) }
        readTimer = nil
        guard phase == .open, raw >= 0 else { return }
        updateInterest()
        switch mode {
        case .atOnce:
            // What is read here makes the descriptor unready: nothing else would tell those who wait for it.
            receive()
            onChange()
        case .stopped: break
        case .slowly(let bytes, let interval): tick(bytes: bytes, every: interval)
        }
    }

    private func tick(bytes: Int, every interval: Duration) {
        readTimer = reactor.schedule(at: .now + interval) { [weak self] in
            guard let self, self.raw >= 0, self.readEnd == nil else { return }
            _ = self.receiveOnce(limit: bytes)
            self.tick(bytes: bytes, every: interval)
            self.onChange()
        }
    }

    /// Reads until the kernel has nothing more, the direction has ended, or the inbox is full.
    package func receive() {
        guard raw >= 0, phase == .open else { return }
        // A peer that never stops sending gets 4 MiB a round: timers and other descriptors have their turn.
        var rounds = 0
        while rounds < 64, receiveOnce(limit: 65536) == 65536 { rounds += 1 }
        updateInterest()
    }

    /// Reads the kernel empty. `recv` also stops short at an urgent byte: one short read does not mean that nothing is left.
    func drain() {
        guard raw >= 0, phase == .open else { return }
        while receiveOnce(limit: 65536) > 0 {}
        updateInterest()
    }

    /// Takes what lies in the kernel and keeps none of it; of a peer that never stops no more than 4 MiB.
    func discard() {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
            for _ in 0..<64 where recv(raw, buffer.baseAddress, buffer.count, 0) <= 0 { return }
        }
    }

    /// One `recv`.
    ///
    /// - Returns: the bytes read; 0 when nothing waits or the direction has ended.
    private func receiveOnce(limit: Int) -> Int {
        guard readEnd == nil, !hasOverflowed else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: min(limit, 65536), alignment: 1) { buffer in
            while true {
                let count = recv(raw, buffer.baseAddress, buffer.count, 0)
                if count > 0 {
                    inbox.append(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), at: .now)
                    if inbox.count > Connection.inboxLimit { hasOverflowed = true }
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
}
