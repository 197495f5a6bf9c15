/// What passed between some parties, in the order of time: segments as arrows between their lifelines, what happened at one of them, steps
/// and remarks beside them. Pure: ``SequenceLayout`` gives it places, ``SequenceDrawing`` draws it.
package struct SequenceDiagram: Sendable, Equatable {
    /// How a row looks. No meaning is in the look alone: the text of a row says the same.
    package enum Tone: String, Sendable, CaseIterable {
        case plain
        /// Of less interest, such as a segment that only acknowledges.
        case faint
        /// Opens or ends a connection: SYN, FIN.
        case turn
        /// Unusual: a retransmission, a window of zero.
        case unusual
        /// A fault that was injected, an RST, a failure.
        case fault
    }

    /// A message from one lifeline to another; they may be the same.
    package struct Arrow: Sendable, Equatable {
        /// Indices into ``SequenceDiagram/lifelines``.
        package var from: Int
        package var to: Int
        /// Above the arrow, in one line.
        package var label: String
        /// Below the arrow, a line each, as faults: what was done to the message on its way.
        package var remarks: [String]
        /// It never arrived: the arrow ends before the other lifeline, with a cross.
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
        /// What happened at one lifeline.
        case event(at: Int, String)
        /// A remark about all of them.
        case note(String)
    }

    package struct Row: Sendable, Equatable {
        /// Nanoseconds since the beginning. Rows are in the order of their times; one that is not is drawn below the row before it.
        package var time: Int64
        package var content: Content
        package var tone: Tone

        package init(time: Int64, _ content: Content, tone: Tone = .plain) {
            (self.time, self.content, self.tone) = (time, content, tone)
        }
    }

    /// What the diagram shows, for readers who can't see it: `sequence diagram of crlf`.
    package var title: String
    /// Names, from left to right.
    package private(set) var lifelines: [String] = []
    package private(set) var rows: [Row] = []
    private var indices: [String: Int] = [:]

    package init(title: String) { self.title = title }

    /// The most lifelines that are drawn; messages of further parties share the last one.
    private static let mostLifelines = 16
    private static let others = "others"

    /// The lifeline of that name, which is added at the right if it is missing.
    package mutating func lifeline(_ name: String) -> Int {
        if let index = indices[name] { return index }
        let isLast = lifelines.count >= Self.mostLifelines - 1
        if isLast, lifelines.count == Self.mostLifelines {
            indices[name] = Self.mostLifelines - 1
            return Self.mostLifelines - 1
        }
        indices[name] = lifelines.count
        lifelines.append(isLast ? Self.others : name)
        return lifelines.count - 1
    }

    /// Whether a lifeline has that name.
    package func hasLifeline(_ name: String) -> Bool { indices[name] != nil }

    package mutating func append(_ row: Row) { rows.append(row) }

    package mutating func append(_ content: Content, at time: Int64, tone: Tone = .plain) {
        rows.append(Row(time: time, content, tone: tone))
    }

    /// `3 lifelines (C, S, T), 12 messages, 5 steps`: what a reader hears instead of the picture.
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
