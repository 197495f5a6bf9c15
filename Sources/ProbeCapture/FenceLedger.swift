/// The pending fences, and when the marker of each is sent again or the fence times out. Pure: times are arguments, in
/// nanoseconds of the monotonic clock.
struct FenceLedger<Completion> {
    /// The work that is due now.
    struct Due {
        /// The fences that have timed out; they have been removed from the ledger.
        var expired: [Completion] = []
        /// The markers to send again.
        var resend: [UInt64] = []
        /// Whether the open block must be filled.
        var fill = false
        /// When to ask again, unless something happens earlier.
        var next: Int64?
    }

    private struct Entry {
        let deadline: Int64
        /// When to fill the block next; `nil` until the marker was sent, because a block filled earlier would not
        /// contain it.
        var nextFill: Int64?
        var interval: Int64
        var wasFilled = false
        let completion: Completion
    }

    /// The time after which an unseen marker is sent again; it doubles each time, up to `longestInterval`.
    private static var firstInterval: Int64 { 2_000_000 }
    private static var longestInterval: Int64 { 64_000_000 }

    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0

    /// Adds a fence, and returns the sequence number of its marker, which must now be sent and then armed with `arm`.
    mutating func register(deadline: Int64, completion: Completion) -> UInt64 {
        last &+= 1
        entries[last] = Entry(
            deadline: deadline, nextFill: nil, interval: Self.firstInterval, completion: completion)
        return last
    }

    /// Records that a marker was sent: from now on the block that contains it may be filled.
    mutating func arm(_ sequence: UInt64, now: Int64) {
        entries[sequence]?.nextFill = now
    }

    /// Records that a marker was captured, and returns the fence's completion, or `nil` if the marker was seen before
    /// or is late.
    mutating func seen(_ sequence: UInt64) -> Completion? {
        entries.removeValue(forKey: sequence)?.completion
    }

    /// Removes a fence, for example because its marker could not be sent.
    mutating func remove(_ sequence: UInt64) -> Completion? { seen(sequence) }

    mutating func removeAll() -> [Completion] {
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value.completion)
    }

    mutating func due(now: Int64) -> Due {
        var due = Due()
        for (sequence, entry) in entries.sorted(by: { $0.key < $1.key }) {
            if entry.deadline <= now {
                due.expired.append(entry.completion)
                entries[sequence] = nil
                continue
            }
            var wake = entry.deadline
            if var nextFill = entry.nextFill {
                if nextFill <= now {
                    if entry.wasFilled { due.resend.append(sequence) }
                    due.fill = true
                    nextFill = now + entry.interval
                    entries[sequence]?.nextFill = nextFill
                    entries[sequence]?.interval = min(entry.interval * 2, Self.longestInterval)
                    entries[sequence]?.wasFilled = true
                }
                wake = min(wake, nextFill)
            }
            due.next = min(due.next ?? wake, wake)
        }
        return due
    }
}
