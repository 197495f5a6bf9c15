import ProbeBase

/// The state of one direction of a link, such as a delay or a rate limit. The state applies to every packet until it is
/// replaced or ended by `heal`.
struct LinkShape {
    struct Delay {
        var id: Int
        var base: Duration
        var jitter: Duration
        var mayReorder: Bool
        var generator: SplitMix64

        mutating func next() -> Duration {
            guard jitter > .zero else { return base }
            // The jitter is limited so that twice its value plus one fits in 64 bits.
            let most = min(jitter.nanoseconds, 1 << 61)
            let offset = Int64(generator.next() % UInt64(most * 2 + 1)) - most
            return max(.zero, base + .nanoseconds(offset))
        }
    }

    struct Rate {
        var id: Int
        var bytesPerSecond: Int
        var queue: Int
        /// The time at which the last queued packet will have been transmitted.
        var free: MonotonicTime?
        static let defaultQueue = 64 << 10
        /// The shortest delay that is attributed to the rate limit. A shorter delay may be caused by the machine
        /// itself.
        static let shortestWait = Duration.microseconds(100)

        /// Returns the time at which a packet of `length` bytes will have been transmitted, or `nil` if the queue is
        /// too full for it.
        mutating func leave(_ length: Int, at now: MonotonicTime) -> MonotonicTime? {
            let start = max(free ?? now, now)
            let waiting = Double((start - now).nanoseconds) / 1e9 * Double(bytesPerSecond)
            // There is always room for one packet; otherwise, a queue smaller than the MTU would pass nothing.
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
        /// The command that requested runs of losses; `nil` if no command requested them.
        var burstID: Int?
        var generator: SplitMix64
        /// The number of losses that are left in the current run.
        var left = 0

        /// Decides whether the next packet is lost, and returns the commands that the loss shows to be in effect. A
        /// command for runs of losses is shown to be in effect by the second loss of a run.
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
            // Each run loses several packets, so runs begin less often than single losses would. At a fraction of 1,
            // every packet is lost.
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
    /// The command that took the direction down; `nil` if the direction is up.
    var down: Int?
    var window: (id: Int, size: Int)?
    var stripped: [(id: Int, option: StrippedOption)] = []
    var clamp: (id: Int, size: Int)?
    var mtu: (id: Int, size: Int, isSilent: Bool)?
    /// Whether any part of the state has been requested and has not ended.
    var isInForce: Bool {
        changesHeaders || delay != nil || rate != nil || loss != nil || down != nil || mtu != nil
    }
    /// Whether any part of the state changes the headers of packets.
    var changesHeaders: Bool { window != nil || clamp != nil || !stripped.isEmpty }
    /// The arrival time of the last packet, which later packets must not overtake.
    var lastDue: MonotonicTime?
}
