/// The pending fences, with the times at which their markers are sent again and at which they time out. The ledger has
/// no clock: the caller passes times in nanoseconds of the monotonic clock.
struct FenceLedger<Completion> {
    /// The work that is due at the given time.
    struct Due {
        /// The completions of the fences that have timed out. These fences have been removed from the ledger.
        var expired: [Completion] = []
        /// The sequence numbers of the markers to send again.
        var resend: [UInt64] = []
        /// Whether fillers must be sent to fill the open block.
        var fill = false
        /// The time at which more work will be due; `nil` if no fence is pending.
        var next: Int64?
    }

    private struct Entry {
        let deadline: Int64
        /// The time at which to fill the block next; `nil` until the marker has been sent, because a block that was
        /// filled earlier would not contain the marker.
        var nextFill: Int64?
        var interval: Int64
        var wasFilled = false
        let completion: Completion
    }

    /// The time after which a marker that was not captured is sent again. The interval doubles each time, up to
    /// `longestInterval`.
    private static var firstInterval: Int64 { 2_000_000 }
    private static var longestInterval: Int64 { 64_000_000 }

    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0

    /// Adds a fence, and returns the sequence number of its marker. The caller must send the marker, and then call
    /// `arm`.
    mutating func register(deadline: Int64, completion: Completion) -> UInt64 {
        last &+= 1
        entries[last] = Entry(
            deadline: deadline, nextFill: nil, interval: Self.firstInterval, completion: completion)
        return last
    }

    /// Records that a marker was sent, so that the block that contains it may be filled from now on.
    mutating func arm(_ sequence: UInt64, now: Int64) {
        entries[sequence]?.nextFill = now
    }

    /// Records that a marker was captured. Returns the fence's completion; `nil` if the marker had already been
    /// captured, or if the fence had already timed out.
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
