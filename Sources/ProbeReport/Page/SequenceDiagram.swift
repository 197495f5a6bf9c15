/// A sequence diagram of several hosts or actors, in chronological order: segments are arrows between their lifelines,
/// events are at one lifeline, and steps and notes are next to the lifelines. This type only describes the diagram;
/// ``SequenceLayout`` computes the positions, and ``SequenceDrawing`` draws it.
package struct SequenceDiagram: Sendable, Equatable {
    /// The appearance of a row. It only repeats what the row's text already states.
    package enum Tone: String, Sendable, CaseIterable {
        case plain
        /// A row of minor importance, such as a segment that only acknowledges.
        case faint
        /// A segment that opens or ends a connection: SYN or FIN.
        case turn
        /// An unusual segment, such as a retransmission or a zero window.
        case unusual
        /// An injected fault, an RST or a failure.
        case fault
    }

    /// A message from one lifeline to another, or back to the same lifeline.
    package struct Arrow: Sendable, Equatable {
        /// The sender's lifeline, as an index into ``SequenceDiagram/lifelines``.
        package var from: Int
        package var to: Int
        /// The text above the arrow, on one line.
        package var label: String
        /// The faults that were applied to the message on its way; each is a line below the arrow.
        package var remarks: [String]
        /// Whether the message was lost. The arrow of a lost message has a cross and ends before it reaches the
        /// receiver's lifeline.
        package var isLost: Bool

        package init(from: Int, to: Int, label: String, remarks: [String] = [], isLost: Bool = false) {
            (self.from, self.to, self.label) = (from, to, label)
            (self.remarks, self.isLost) = (remarks, isLost)
        }
    }

    package enum Content: Sendable, Equatable {
        /// A step of a script, on the left.
        case step(String)
        case arrow(Arrow)
        /// An event at a single lifeline.
        case event(at: Int, String)
        /// A note that spans all lifelines.
        case note(String)
    }

    package struct Row: Sendable, Equatable {
        /// The time in nanoseconds since the beginning of the diagram. Rows should be in chronological order; a row
        /// with an earlier time is still drawn below the row before it.
        package var time: Int64
        package var content: Content
        package var tone: Tone

        package init(time: Int64, _ content: Content, tone: Tone = .plain) {
            (self.time, self.content, self.tone) = (time, content, tone)
        }
    }

    /// The title for readers who can't see the diagram, such as `sequence diagram of crlf`.
    package var title: String
    /// The names of the lifelines, from left to right.
    package private(set) var lifelines: [String] = []
    package private(set) var rows: [Row] = []
    private var indices: [String: Int] = [:]

    package init(title: String) { self.title = title }

    /// The maximum number of lifelines that are drawn. Messages of all further hosts share the last lifeline.
    private static let maxLifelines = 16
    private static let others = "others"

    /// Returns the index of the lifeline with this name. If there is no such lifeline, adds one on the right.
    package mutating func lifeline(_ name: String) -> Int {
        if let index = indices[name] { return index }
        let isLast = lifelines.count >= Self.maxLifelines - 1
        if isLast, lifelines.count == Self.maxLifelines {
            indices[name] = Self.maxLifelines - 1
            return Self.maxLifelines - 1
        }
        indices[name] = lifelines.count
        lifelines.append(isLast ? Self.others : name)
        return lifelines.count - 1
    }

    /// Returns whether a lifeline has this name.
    package func hasLifeline(_ name: String) -> Bool { indices[name] != nil }

    package mutating func append(_ row: Row) { rows.append(row) }

    package mutating func append(_ content: Content, at time: Int64, tone: Tone = .plain) {
        rows.append(Row(time: time, content, tone: tone))
    }

    /// The summary that screen readers read instead of the drawing, such as `3 lifelines (C, S, T), 12 messages, 5
    /// steps`.
    package var summary: String {
        var (messages, steps) = (0, 0)
        for row in rows {
            switch row.content {
            case .arrow: messages += 1
            case .step: steps += 1
            case .event, .note: break
            }
        }
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let names = lifelines.joined(separator: ", ")
        return "\(count(lifelines.count, "lifeline"))\(names.isEmpty ? "" : " (\(names))"), "
            + "\(count(messages, "message")), \(count(steps, "step"))"
    }
}
