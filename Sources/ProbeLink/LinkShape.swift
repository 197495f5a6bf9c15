import ProbeBase

/// The state of one direction of a link, which applies to every packet until it is healed. Pure.
struct LinkShape {
    struct Delay {
        var id: Int
        var base: Duration
        var jitter: Duration
        var mayReorder: Bool
        var generator: SplitMix64

        mutating func next() -> Duration {
            guard jitter > .zero else { return base }
            // Limited so that twice the value plus one fits in 64 bits.
            let most = min(jitter.nanoseconds, 1 << 61)
            let offset = Int64(generator.next() % UInt64(most * 2 + 1)) - most
            return max(.zero, base + .nanoseconds(offset))
        }
    }

    struct Rate {
        var id: Int
        var bytesPerSecond: Int
        var queue: Int
        /// When the last queued packet will have left.
        var free: MonotonicTime?
        static let defaultQueue = 64 << 10
        /// The shortest wait that counts as caused by the rate. The machine itself may delay a packet by less than
        /// this.
        static let shortestWait = Duration.microseconds(100)

        /// Returns when a packet of `length` bytes will have left, or `nil` if the queue has no room for it.
        mutating func leave(_ length: Int, at now: MonotonicTime) -> MonotonicTime? {
            let start = max(free ?? now, now)
            let waiting = Double((start - now).nanoseconds) / 1e9 * Double(bytesPerSecond)
            // There is always room for one packet: a queue smaller than the MTU would pass nothing.
            guard waiting == 0 || waiting + Double(length) <= Double(queue) else { return nil }
            let time = Duration.nanoseconds(Int64(Double(length) / Double(bytesPerSecond) * 1e9))
            free = start + time
            return free
        }
    }

    struct Loss {
        var id: Int
        var fraction: Double
        var burst: Int
        /// The command that requested runs; `nil` if none did.
        var burstID: Int?
        var generator: SplitMix64
        /// The number of losses that remain in the current run.
        var left = 0

        /// Decides whether the next packet is lost, and returns the commands whose effect this shows. A run of losses
        /// shows in its second packet.
        mutating func next() -> (isLost: Bool, met: [Int]) {
            let isInBurst = left > 0 || burst == 1
            guard isNextLost() else { return (false, []) }
            return (true, (burstID == id ? [] : [id]) + (isInBurst ? burstID.map { [$0] } ?? [] : []))
        }

        private mutating func isNextLost() -> Bool {
            if left > 0 {
                left -= 1
                return true
            }
            let value = Double(generator.next() >> 11) / Double(1 << 53)
            // A run loses several packets, so fewer runs begin. At a fraction of 1 every packet is lost.
            guard fraction >= 1 || value < fraction / (Double(burst) - fraction * Double(burst - 1)) else {
                return false
            }
            left = burst - 1
            return true
        }
    }

    var delay: Delay?
    var rate: Rate?
    var loss: Loss?
    /// The command that took the direction down; `nil` if packets pass.
    var down: Int?
    var window: (id: Int, size: Int)?
    var stripped: [(id: Int, option: StrippedOption)] = []
    var clamp: (id: Int, size: Int)?
    var mtu: (id: Int, size: Int, isSilent: Bool)?
    /// Whether any part of the state was requested and has not ended.
    var isInForce: Bool {
        changesHeaders || delay != nil || rate != nil || loss != nil || down != nil || mtu != nil
    }
    /// Whether any part of the state changes headers.
    var changesHeaders: Bool { window != nil || clamp != nil || !stripped.isEmpty }
    /// The arrival time of the last packet that must not be overtaken.
    var lastDue: MonotonicTime?
}
