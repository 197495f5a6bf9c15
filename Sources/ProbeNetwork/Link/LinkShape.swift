import ProbeBase

/// The state of one direction of a link: what holds for every packet until it is healed. Pure.
struct LinkShape {
    struct Delay {
        var id: Int
        var base: Duration
        var jitter: Duration
        var mayReorder: Bool
        var generator: SplitMix64

        mutating func next() -> Duration {
            guard jitter > .zero else { return base }
            // Twice of it, and one more, is a number of 64 bits.
            let most = min(jitter.nanoseconds, 1 << 61)
            let offset = Int64(generator.next() % UInt64(most * 2 + 1)) - most
            return max(.zero, base + .nanoseconds(offset))
        }
    }

    struct Rate {
        var id: Int
        var bytesPerSecond: Int
        var queue: Int
        /// When all that waits has left.
        var free: MonotonicTime?
        static let defaultQueue = 64 << 10
        /// A packet that leaves sooner than this after it came was not held back: the machine itself is late by as much.
        static let shortestWait = Duration.microseconds(100)

        /// When a packet has left; nil if the queue has no room for it.
        mutating func leave(_ length: Int, at now: MonotonicTime) -> MonotonicTime? {
            let start = max(free ?? now, now)
            let waiting = Double((start - now).nanoseconds) / 1e9 * Double(bytesPerSecond)
            // One packet always has room: a queue that is shorter than the MTU would pass nothing.
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
        /// The command that asked for runs; `nil` if none did.
        var burstID: Int?
        var generator: SplitMix64
        /// Of a run of losses: how many are to come.
        var left = 0

        /// Whether the next packet is lost, and the commands that have done then what they say: a run shows itself in its second packet.
        mutating func next() -> (isLost: Bool, met: [Int]) {
            let isOfRun = left > 0 || burst == 1
            guard isNextLost() else { return (false, []) }
            return (true, (burstID == id ? [] : [id]) + (isOfRun ? burstID.map { [$0] } ?? [] : []))
        }

        private mutating func isNextLost() -> Bool {
            if left > 0 {
                left -= 1
                return true
            }
            let value = Double(generator.next() >> 11) / Double(1 << 53)
            // A run loses several: fewer of them begin. All are lost where all are to be.
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
    /// The fault by which nothing passes.
    var down: Int?
    var window: (id: Int, size: Int)?
    var stripped: [(id: Int, option: StrippedOption)] = []
    var clamp: (id: Int, size: Int)?
    var mtu: (id: Int, size: Int, isSilent: Bool)?
    /// Anything of it was asked for and not ended.
    var isInForce: Bool {
        changesHeaders || delay != nil || rate != nil || loss != nil || down != nil || mtu != nil
    }
    /// Something of it changes headers.
    var changesHeaders: Bool { window != nil || clamp != nil || !stripped.isEmpty }
    /// When the last packet arrives that may not be overtaken.
    var lastDue: MonotonicTime?
}
