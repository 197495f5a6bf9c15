/// The fences that are waited for, and when each is sent again or given up. Pure: time comes in as monotonic nanoseconds.
struct FenceLedger<Completion> {
    /// What there is to do now.
    struct Due {
        /// Fences whose time is over; they are out of the ledger.
        var expired: [Completion] = []
        /// Markers to send once more.
        var resend: [UInt64] = []
        /// Whether the open block has to be filled.
        var fill = false
        /// When to ask again, unless something happens before.
        var next: Int64?
    }

    private struct Entry {
        let deadline: Int64
        /// `nil` until the marker was sent: filling the block before it would leave it behind.
        var nextFill: Int64?
        var interval: Int64
        var wasFilled = false
        let completion: Completion
    }

    /// A marker that is not seen by then is sent again; the wait doubles up to the second figure.
    private static var firstInterval: Int64 { 2_000_000 }
    private static var longestInterval: Int64 { 64_000_000 }

    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0

    /// Enters a fence and returns the sequence number of its marker, to be sent now and then `arm`ed.
    mutating func register(deadline: Int64, completion: Completion) -> UInt64 {
        last &+= 1
        entries[last] = Entry(
            deadline: deadline, nextFill: nil, interval: Self.firstInterval, completion: completion)
        return last
    }

    /// The marker is on its way: from now on the block that holds it may be filled.
    mutating func arm(_ sequence: UInt64, now: Int64) {
        entries[sequence]?.nextFill = now
    }

    /// The marker came: what to tell, unless it came before or too late.
    mutating func seen(_ sequence: UInt64) -> Completion? {
        entries.removeValue(forKey: sequence)?.completion
    }

    /// Takes one fence out, as when its marker could not be sent.
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
