/// A sequence diagram of several parties, in the order of time: segments as arrows between their lifelines, events at
/// one of them, and steps and remarks next to them. It has no side effects: ``SequenceLayout`` assigns places,
/// ``SequenceDrawing`` draws it.
package struct SequenceDiagram: Sendable, Equatable {
    /// The look of a row. The look alone carries no meaning: the text of the row expresses the same.
    package enum Tone: String, Sendable, CaseIterable {
        case plain
        /// Less important, such as a segment that only acknowledges.
        case faint
        /// Opens or ends a connection: SYN, FIN.
        case turn
        /// Unusual: a retransmission, a window of zero.
        case unusual
        /// A fault that was injected, an RST, a failure.
        case fault
    }

    /// A message from one lifeline to another, which may be the same.
    package struct Arrow: Sendable, Equatable {
        /// Indices into ``SequenceDiagram/lifelines``.
        package var from: Int
        package var to: Int
        /// The text above the arrow, in one line.
        package var label: String
        /// The texts below the arrow, one a line, shown as faults: what was done to the message on its way.
        package var remarks: [String]
        /// Whether the message never arrived, so that the arrow ends before the other lifeline, with a cross.
        package var isLost: Bool

        package init(from: Int, to: Int, label: String, remarks: [String] = [], isLost: Bool = false) {
            (self.from, self.to, self.label) = (from, to, label)
            (self.remarks, self.isLost) = (remarks, isLost)
        }
    }

    package enum Content: Sendable, Equatable {
        /// A step of a script, at the left.
        case step(String)
        case arrow(Arrow)
        /// An event at one lifeline.
        case event(at: Int, String)
        /// A remark about all lifelines.
        case note(String)
    }

    package struct Row: Sendable, Equatable {
        /// The time in nanoseconds since the beginning. Rows are in the order of their times; a row that isn't is drawn
        /// below the row before it.
        package var time: Int64
        package var content: Content
        package var tone: Tone

        package init(time: Int64, _ content: Content, tone: Tone = .plain) {
            (self.time, self.content, self.tone) = (time, content, tone)
        }
    }

    /// The description for readers who can't see the diagram, such as `sequence diagram of crlf`.
    package var title: String
    /// The names of the lifelines, from left to right.
    package private(set) var lifelines: [String] = []
    package private(set) var rows: [Row] = []
    private var indices: [String: Int] = [:]

    package init(title: String) { self.title = title }

    /// The maximum number of lifelines drawn; messages of further parties share the last one.
    private static let maxLifelines = 16
    private static let others = "others"

    /// Returns the lifeline with that name, which is added at the right if it is missing.
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

    /// Returns whether a lifeline has that name.
    package func hasLifeline(_ name: String) -> Bool { indices[name] != nil }

    package mutating func append(_ row: Row) { rows.append(row) }

    package mutating func append(_ content: Content, at time: Int64, tone: Tone = .plain) {
        rows.append(Row(time: time, content, tone: tone))
    }

    /// The summary that screen readers read instead of the picture, such as
    /// `3 lifelines (C, S, T), 12 messages, 5 steps`.
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
