import ProbeBase
import ProbeEvents
import ProbeScenario

/// Builds the sequence diagram of a case from its timeline.
struct CaseDiagram {
    /// The maximum number of rows. If the timeline has more entries, ``TimelineSelection`` chooses the entries that are
    /// drawn.
    private static let maxRows = 600
    /// The maximum width of a payload, in columns.
    private static let payloadWidth = 30
    /// The smallest MSS that a connection can have (RFC 9293, section 3.7.1). If a segment is smaller, the MSS did not
    /// limit its size.
    private static let smallestMSS = 536

    private let result: CaseResult
    private var diagram: SequenceDiagram
    /// The timeline indices of the segments that end at a cut; the next segment continues the sender's bytes.
    private var cuts: Set<Int> = []

    init(_ result: CaseResult) {
        self.result = result
        diagram = SequenceDiagram(title: "sequence diagram of \(result.id)")
        placeLifelines()
        findCuts()
        for line in TimelineSelection(result.timeline).lines(limit: Self.maxRows) {
            switch line {
            case .entry(let index): append(result.timeline[index], index)
            case .omitted(let count, _, _):
                let time = diagram.rows.last?.time ?? result.timeline.first?.time ?? 0
                diagram.append(.note("… \(count) entries are omitted here"), at: time, tone: .faint)
            }
        }
    }

    /// The diagram; `nil` if it has no rows.
    var value: SequenceDiagram? { diagram.rows.isEmpty ? nil : diagram }

    // MARK: Preparation

    /// Adds the lifelines: first the lifelines of the hosts that exchange packets, with the client on the left, and
    /// then the lifelines of other actors that have events.
    private mutating func placeLifelines() {
        for entry in result.timeline {
            guard case .packet(let packet) = entry.kind, let segment = packet.segment else { continue }
            _ = diagram.lifeline(segment.from)
            _ = diagram.lifeline(segment.to)
        }
        for entry in result.timeline {
            switch entry.kind {
            case .event(let actor, _), .output(let actor, _, _): _ = diagram.lifeline(actor)
            case .step, .stepFailed, .packet, .note: break
            }
        }
    }

    /// Finds the segments that end at a cut. If the bytes of one step are in several segments, each small segment
    /// except the last one ends at a cut.
    private mutating func findCuts() {
        var sends: [String: Int] = [:]
        var last: [Flow: (index: Int, send: Int, end: Int64)] = [:]
        for (index, entry) in result.timeline.enumerated() {
            switch entry.kind {
            case .step(_, let text, _):
                if let actor = StepWords(text).sender { sends[actor, default: 0] += 1 }
            case .packet(let packet):
                guard let segment = packet.segment, segment.payloadLength > 0 else { continue }
                let flow = Flow(from: segment.from, to: segment.to)
                let send = sends[segment.from, default: 0]
                // A program's segments never end at a cut, because no step sends them.
                if let before = last[flow], send > 0, before.send == send, before.end == segment.sequence {
                    cuts.insert(before.index)
                }
                let isSmall = segment.payloadLength < Self.smallestMSS
                let end = segment.sequence.addingReportingOverflow(Int64(segment.payloadLength)).partialValue
                last[flow] = isSmall ? (index, send, end) : nil
            case .stepFailed, .output, .event, .note: break
            }
        }
    }

    private struct Flow: Hashable {
        var from: String
        var to: String
    }

    // MARK: Rows

    private mutating func append(_ entry: TimelineEntry, _ index: Int) {
        let time = entry.time
        switch entry.kind {
        case .step(let span, let text, let values):
            let names = values.isEmpty ? "" : "  (\(values.sentence))"
            diagram.append(
                .step("\(place(line(span)))  \(text)\(names)"), at: time,
                tone: StepWords(text).isFault ? .fault : .plain)
        case .stepFailed(let span):
            let word = result.verdict == .failed ? "failed" : "here"
            diagram.append(
                .step("\(place("✗"))  \(word): \(result.sources.text(of: span))"), at: time, tone: .fault)
        case .packet(let packet): append(packet, at: time, isCut: cuts.contains(index))
        case .output(let actor, let isError, let bytes):
            let text = Escaped.text(bytes.prefix(200))
            diagram.append(
                .event(at: diagram.lifeline(actor), "\(isError ? "stderr" : "prints")| \(text)"), at: time,
                tone: isError ? .unusual : .faint)
        case .event(let actor, let text):
            diagram.append(.event(at: diagram.lifeline(actor), text), at: time)
        case .note(let text): diagram.append(.note(text), at: time)
        }
    }

    /// Returns the text, right-aligned in the column for step numbers (``SequenceLayout/placeColumns``).
    private func place(_ text: String) -> String { Columns.right(text, to: SequenceLayout.placeColumns) }

    private func line(_ span: SourceSpan) -> String {
        let location = result.sources.location(of: span)
        // The location of a step from an included file includes the name of that file.
        guard span.file != 0 else { return "\(location.line)" }
        let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
        return "\(file):\(location.line)"
    }

    private mutating func append(_ packet: TimelinePacket, at time: Int64, isCut: Bool) {
        guard let segment = packet.segment else {
            // If only the text of a packet is known, the text itself contains the packet's faults.
            return diagram.append(.note(packet.text), at: time, tone: packet.faults.isEmpty ? .faint : .fault)
        }
        let words = SegmentWords(segment, payloadWidth: Self.payloadWidth)
        let arrow = SequenceDiagram.Arrow(
            from: diagram.lifeline(segment.from), to: diagram.lifeline(segment.to),
            label: words.label + (isCut ? "  ✂ cut here" : ""), remarks: packet.faults,
            isLost: packet.faults.contains(where: Self.isLoss))
        diagram.append(.arrow(arrow), at: time, tone: packet.faults.isEmpty ? words.tone : .fault)
    }

    /// Returns whether a fault, such as `crlf.scn:11 link S -> T drop data 3`, prevents the packet from reaching its
    /// receiver's TCP.
    private static func isLoss(_ fault: String) -> Bool {
        let words = fault.split(separator: " ")
        return PacketFault.lossWords.contains { words.contains($0[...]) }
    }
}

/// The words that describe a segment above its arrow.
struct SegmentWords {
    let label: String
    let tone: SequenceDiagram.Tone

    init(_ segment: TimelinePacket.Segment, payloadWidth: Int) {
        var words: [String] = []
        let names: [(Character, String)] = [("S", "SYN"), ("F", "FIN"), ("R", "RST")]
        for (letter, name) in names where segment.flags.contains(letter) { words.append(name) }
        let isTurn = !words.isEmpty
        if segment.flags.contains("S"), segment.flags.contains(".") { words.append("ACK") }
        if segment.payloadLength > 0 {
            let shown = Escaped.literal(segment.payload.span, width: payloadWidth) ?? "…"
            let isCut = segment.payload.count < segment.payloadLength && shown.hasSuffix("\"")
            let more = isCut ? "…" : ""
            words.insert("\(shown)\(more) \(ByteText.count(segment.payloadLength, "byte"))", at: 0)
        }
        if words.isEmpty {
            words.append(segment.flags.contains(".") ? "ACK" : segment.flags)
            if let number = segment.acknowledgment, words == ["ACK"] { words[0] += " \(number)" }
        }
        label = words.joined(separator: " ") + segment.marks.map { ", \($0)" }.joined()
        let isReset = segment.flags.contains("R")
        tone =
            isReset
            ? .fault
            : !segment.marks.isEmpty ? .unusual : isTurn ? .turn : segment.payloadLength > 0 ? .plain : .faint
    }
}

/// The words of a step's text in the timeline.
private struct StepWords {
    private let words: [Substring]

    init(_ text: String) { words = text.split(separator: " ", maxSplits: 5) }

    /// The actor that sends in this step; `nil` if the step does not send.
    var sender: String? {
        guard words.count > 1 else { return nil }
        let isSend = words[1] == "send" || (words[1] == "start" && words.count > 2 && words[2] == "sending")
        return isSend ? String(words[0]) : nil
    }

    /// The verbs of steps that inject a fault; a verb follows the actor's name.
    private static let faults: Set<Substring> = [
        "reset", "vanish", "signal", "corrupt", "discard", "replace", "insert", "hold", "reboot", "read",
    ]

    /// Whether the step injects a fault.
    var isFault: Bool {
        guard words.count > 1 else { return false }
        if words[0] == "link" { return words.last != "heal" && words.last != "up" && words.last != "release" }
        if words[1] == "close" { return words.count > 2 && words[2] == "without" }
        if words[1] == "stop" { return words.count > 2 && (words[2] == "reading" || words[2] == "listening") }
        return Self.faults.contains(words[1])
    }
}
