import ProbeEvents

/// The events of a case, for the case's report. A very long timeline keeps only its first and its last entries. This
/// type has no side effects.
struct CaseTimeline {
    private(set) var entries: [TimelineEntry] = []
    private var omitted = 0
    /// The minimum number of entries that are kept at the start of the timeline, and at its end.
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
        // Always keep the last event of each actor, because it shows the actor's final state.
        var lastEvents: [String: Int] = [:]
        for index in middle { if case .event(let actor, _) = entries[index].kind { lastEvents[actor] = index } }
        let events = lastEvents.values.sorted().map { entries[$0] }
        // One of the removed entries may be the note about entries that were omitted earlier. This note is not counted
        // as a removed entry.
        omitted += middle.count - events.count - (omitted > 0 ? 1 : 0)
        let note = TimelineEntry(
            time: entries[middle.lowerBound].time, kind: .note("\(omitted) entries omitted"))
        entries.replaceSubrange(middle, with: [note] + events)
    }
}
