import ProbeBase
import Testing

@testable import ProbeReport

/// Tests sequence diagrams: nothing overlaps, untrusted text is escaped, and the drawing of the sample does not change.
@Suite struct SequenceDiagramTests {
    /// A diagram that contains one row of each kind.
    static var sample: SequenceDiagram {
        var diagram = SequenceDiagram(title: "sequence diagram of crlf")
        let (client, server) = (diagram.lifeline("T"), diagram.lifeline("S"))
        diagram.append(.step("  7  T start"), at: 112_000)
        diagram.append(.arrow(.init(from: client, to: server, label: "SYN")), at: 250_000, tone: .turn)
        diagram.append(.arrow(.init(from: server, to: client, label: "SYN ACK")), at: 260_000, tone: .turn)
        diagram.append(.arrow(.init(from: client, to: server, label: "ACK")), at: 270_000, tone: .faint)
        diagram.append(.event(at: client, "started"), at: 400_000)
        diagram.append(
            .arrow(
                .init(
                    from: server, to: client, label: "\"220 rea\" 7 bytes", remarks: ["link S -> T drop data 1"],
                    isLost: true)), at: 61_000_000, tone: .fault)
        diagram.append(.note("retry: attempt 1 failed"), at: 61_100_000)
        diagram.append(.arrow(.init(from: server, to: server, label: "to itself")), at: 61_200_000, tone: .unusual)
        diagram.append(.step("  ✗  failed: T expect line \"<220>\""), at: 62_000_000, tone: .fault)
        return diagram
    }

    @Test func drawingMatchesGoldenText() throws {
        try GoldenText.check(SequenceDrawing(Self.sample).html.markup + "\n", "sequence.html")
        #expect(Self.sample.summary == "2 lifelines (T, S), 5 messages, 2 steps")
    }

    @Test func untrustedTextIsEscaped() {
        var diagram = SequenceDiagram(title: "</title><script>alert(1)</script>")
        let hostile = "\u{1b}[31m\u{202e}\u{0}</text></svg><script>\"'&"
        let (first, second) = (diagram.lifeline(hostile), diagram.lifeline("é 漢字 🙂"))
        diagram.append(.step(hostile), at: 0)
        diagram.append(.arrow(.init(from: first, to: second, label: hostile, remarks: [hostile])), at: 1)
        diagram.append(.arrow(.init(from: first, to: first, label: hostile)), at: 1)
        diagram.append(.event(at: second, hostile), at: 2)
        diagram.append(.note(hostile), at: 3)
        let markup = SequenceDrawing(diagram).html.markup
        #expect(!markup.contains("<script"))
        #expect(!markup.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        #expect(markup.contains("\\u{202e}") || markup.contains("\\xe2\\x80\\xae"))
    }

    @Test(arguments: 0..<40) func nothingOverlaps(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        func text(_ longest: Int) -> String {
            let words = ["220 ready", "漢字", "🙂", "\u{1}", "a", "longer-words-than-others"]
            return (0..<(1 + below(longest))).map { _ in words[below(words.count)] }.joined(separator: " ")
        }
        var diagram = SequenceDiagram(title: "random")
        let lifelines = (0..<(1 + below(20))).map { diagram.lifeline("\($0) \(text(8))") }
        var time: Int64 = 0
        for _ in 0..<below(300) {
            time += [0, 10_000, 900_000, 5_000_000, 70_000_000_000, .max / 1000][below(6)] * Int64(below(2))
            let (from, to) = (lifelines[below(lifelines.count)], lifelines[below(lifelines.count)])
            switch below(4) {
            case 0: diagram.append(.step(text(20)), at: time)
            case 1: diagram.append(.event(at: from, text(20)), at: time)
            case 2: diagram.append(.note(text(20)), at: time)
            default:
                let remarks = (0..<below(3)).map { _ in text(12) }
                diagram.append(.arrow(.init(from: from, to: to, label: text(12), remarks: remarks)), at: time)
            }
        }
        let layout = SequenceLayout(diagram)
        #expect(diagram.lifelines.count <= 16)
        for (index, (left, right)) in zip(layout.xs, layout.xs.dropFirst()).enumerated() {
            let halves =
                (SequenceLayout.pixels(layout.names[index]) + SequenceLayout.pixels(layout.names[index + 1])) / 2
            #expect(right - left >= halves + 14, "names \(index) and \(index + 1)")
        }
        var bottom = SequenceLayout.head
        for (row, place) in zip(diagram.rows, layout.places) {
            #expect(place.top >= bottom + (place.fold == nil ? 0 : 26))
            bottom = place.top + place.height
            let size = SequenceLayout.pixels(place.text)
            switch row.content {
            case .arrow(let arrow) where arrow.from != arrow.to:
                let room = abs(layout.xs[arrow.from] - layout.xs[arrow.to])
                #expect(size <= room)
                for remark in place.remarks { #expect(SequenceLayout.pixels(remark) <= room) }
            case .arrow(let arrow): expectInside(layout.xs[arrow.from], size + 18, place, layout)
            case .event(let at, _): expectInside(layout.xs[at], size + 10, place, layout)
            case .step: #expect(layout.left + size <= layout.width)
            case .note: #expect(layout.noteLeft + size <= layout.width)
            }
        }
        #expect(bottom <= layout.height)
    }

    private func expectInside(
        _ x: Int, _ size: Int, _ place: SequenceLayout.Place, _ layout: SequenceLayout,
        _ location: SourceLocation = #_sourceLocation
    ) {
        switch place.side {
        case .right: #expect(x + size <= layout.width, sourceLocation: location)
        case .left: #expect(x - size >= 0, sourceLocation: location)
        }
    }
}
