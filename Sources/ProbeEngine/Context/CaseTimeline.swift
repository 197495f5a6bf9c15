import ProbeEvents

/// The events of a case, for its report. A very long timeline keeps only its first and its last entries. Pure.
struct CaseTimeline {
    private(set) var entries: [TimelineEntry] = []
    private var omitted = 0
    /// The minimum number of entries that are kept at the start, and at the end.
    private let kept: Int

    init(keeping kept: Int = 10_000) { self.kept = kept }

    /// Records an entry.
    ///
    /// - Parameter time: nanoseconds since the case began.
    mutating func record(_ kind: TimelineEntry.Kind, at time: Int64) {
        entries.append(TimelineEntry(time: time, kind: kind))
        if entries.count >= 4 * kept { shorten() }
    }

    private mutating func shorten() {
        let middle = kept..<(entries.count - kept)
        // The last event of an actor shows its final state, however long ago it was.
        var lastEvents: [String: Int] = [:]
        for index in middle { if case .event(let actor, _) = entries[index].kind { lastEvents[actor] = index } }
        let events = lastEvents.values.sorted().map { entries[$0] }
        // The note of an earlier cut is in the middle, and doesn't count as an entry.
        omitted += middle.count - events.count - (omitted > 0 ? 1 : 0)
        let note = TimelineEntry(
            time: entries[middle.lowerBound].time, kind: .note("\(omitted) entries omitted"))
        entries.replaceSubrange(middle, with: [note] + events)
    }
}
