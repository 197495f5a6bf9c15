/// Finds periods in which all active flows of a capture stall at the same time.
struct StallWatch: Sendable {
    struct Stall: Sendable {
        var start: UInt64
        var end: UInt64
        /// The flows with packets just before the stall, and the time for which each had been busy.
        var busy: [Int: UInt64]
        /// The flows that resumed at once, and the number of their packets in the period after the stall that a stall
        /// takes at least.
        var resumed: [Int: Int] = [:]

        /// The flows that were active. A flow that was busy only for a moment is idle most of the time, so its silence
        /// means nothing.
        var active: Set<Int> {
            let least = min((end - start) / 3, StallWatch.longestActivity)
            return Set(busy.lazy.filter { $0.value >= least }.map(\.key))
        }

        /// Whether at least three flows were active, and all of them resumed. A flow that resumes with a few packets
        /// only sends a message from time to time.
        var isShared: Bool {
            let active = active
            return active.count >= 3 && active.allSatisfy { resumed[$0] ?? 0 >= StallWatch.leastPackets }
        }

        /// The part of the stall in which the flows of another share stalled as well; `nil` if it is too short.
        func intersection(_ other: Stall) -> Stall? {
            let (start, end) = (max(start, other.start), min(self.end, other.end))
            guard start < end, end - start >= StallWatch.shortest else { return nil }
            return Stall(
                start: start, end: end, busy: busy.merging(other.busy) { max($0, $1) },
                resumed: resumed.merging(other.resumed) { max($0, $1) })
        }

        func renumbered(_ numbers: [Int]) -> Stall {
            var stall = self
            stall.busy = Dictionary(uniqueKeysWithValues: busy.map { (numbers[$0.key], $0.value) })
            stall.resumed = Dictionary(uniqueKeysWithValues: resumed.map { (numbers[$0.key], $0.value) })
            return stall
        }
    }

    /// The stalls, in order. A share of the connections also keeps those of a single flow.
    private var found: [Stall] = []
    private struct RecentFlow: Sendable {
        var flow: Int
        var time: UInt64
        /// The times of the three packets before the last one, the oldest first.
        var earlier: (UInt64, UInt64, UInt64) = (0, 0, 0)
        /// The time since which the flow has not been silent for as long as a stall takes at least.
        var since: UInt64 = 0

        mutating func note(_ time: UInt64) {
            if self.time &+ StallWatch.shortest <= time { since = time }
            earlier = (earlier.1, earlier.2, self.time)
            self.time = time
        }

        /// Returns the time for which the flow had been busy when a stall began; `nil` if it had fewer packets, so that it
        /// is idle most of the time.
        func busyTime(before start: UInt64) -> UInt64? {
            earlier.0 &+ StallWatch.shortest >= start ? time - min(since, time) : nil
        }
    }

    private var recent: [RecentFlow] = []
    private var firstTime: UInt64 = 0
    private var lastTime: UInt64 = 0
    private static let shortest: UInt64 = 500_000_000
    private static let resumption: UInt64 = 100_000_000
    private static let leastPackets = 4
    private static let longestActivity: UInt64 = 2_000_000_000
    private static let keptFlows = 64
    private static let keptStalls = 256

    /// The stalls that several flows have in common. Flows that pause again and again for the same time of at least 5 s
    /// are idle, and keep their connections alive.
    var stalls: [Stall] {
        let shared = found.filter(\.isShared)
        return shared.filter { stall in
            let time = stall.end - stall.start
            return time < 5_000_000_000
                || shared.count {
                    $0.active == stall.active
                        && max($0.end - $0.start, time) - min($0.end - $0.start, time) <= time / 50
                } < 2
        }
    }

    /// Records a packet of a flow.
    ///
    /// - Parameter isKeepAlive: whether the packet is a keep-alive, which an idle flow sends after a fixed time.
    mutating func note(_ flow: Int, at time: UInt64, isKeepAlive: Bool) {
        defer { lastTime = max(lastTime, time) }
        if firstTime == 0 { firstTime = time }
        if lastTime > 0, time > lastTime, time - lastTime >= Self.shortest, found.count < Self.keptStalls {
            var busy: [Int: UInt64] = [:]
            for entry in recent { busy[entry.flow] = entry.busyTime(before: lastTime) }
            found.append(Stall(start: lastTime, end: time, busy: busy))
        }
        // The stall is changed in place, because a copy of it would make the dictionaries be copied as well.
        let last = found.count - 1
        if last >= 0, time >= found[last].end, time - found[last].end <= Self.shortest {
            if let count = found[last].resumed[flow] {
                found[last].resumed[flow] = count + 1
            } else if time - found[last].end <= Self.resumption {
                if isKeepAlive { found[last].busy[flow] = nil } else { found[last].resumed[flow] = 1 }
            }
        }
        // Most packets belong to the same flow as the previous packet.
        if let last = recent.last, last.flow == flow {
            recent[recent.count - 1].note(time)
            return
        }
        var entry = RecentFlow(flow: flow, time: 0)
        if let index = recent.lastIndex(where: { $0.flow == flow }) {
            entry = recent.remove(at: index)
        } else if recent.count == Self.keptFlows {
            recent.removeFirst()
        }
        entry.note(time)
        recent.append(entry)
    }

    /// Adds the stalls of another share of the connections. Both shares must be silent during a stall, and each is silent
    /// before its first packet and after its last one.
    mutating func merge(_ other: StallWatch, _ numbers: (own: [Int], other: [Int])) {
        let own = found.map { $0.renumbered(numbers.own) } + silences
        let others = other.found.map { $0.renumbered(numbers.other) } + other.silences
        found = own.flatMap { stall in others.compactMap { stall.intersection($0) } }.filter { !$0.busy.isEmpty }
            .sorted { $0.start < $1.start }
        firstTime = [firstTime, other.firstTime].filter { $0 > 0 }.min() ?? 0
        lastTime = max(lastTime, other.lastTime)
    }

    /// The time before the first packet, and the time after the last one.
    private var silences: [Stall] {
        guard firstTime > 0 else { return [Stall(start: 0, end: .max, busy: [:])] }
        return [Stall(start: 0, end: firstTime, busy: [:]), Stall(start: lastTime, end: .max, busy: [:])]
    }
}
