import ProbeBase
import ProbeScenario

/// Describes, in one sentence, the conditions under which a scenario fails.
package struct MinimumSentence {
    private let base: ExploredScenario
    private let result: ShrinkResult

    package init(_ base: ExploredScenario, _ result: ShrinkResult) {
        self.base = base
        self.result = result
    }

    /// The sentence, such as `fails when "250 OK\r\n" is cut at 7, between CR and LF; 6 and 8 pass; 10 of 10 runs`.
    package var text: String {
        let variation = result.candidate.variation
        if variation.isEmpty { return "fails as it is; \(result.rate.text)" }
        var parts = variation.cutSends.map { cut($0, variation) }
        parts += variation.joined.map { group in
            let values = group.map(shown)
            return "\(values.dropLast().joined(separator: ", ")) and \(values.last ?? "") are sent in one piece"
        }
        parts += variation.fins.map { "\(shown($0.send)) is sent in one segment with the FIN" }
        for change in variation.changes {
            switch change {
            case .option(let actor, let option): parts.append("\(actor) uses \(option.text)")
            case .slowReading(let actor, _, let bytes):
                parts.append("\(actor) reads \(ByteText.count(bytes, "byte")) per millisecond")
            case .records(let send, let size):
                parts.append("\(shown(send)) is sent in TLS records of \(ByteText.count(size, "byte"))")
            case .earlyEnd(let send):
                parts.append("the client half-closes its connection directly after \(shown(send))")
            case .cut, .join, .fin: break
            }
        }
        var text = "fails when " + parts.joined(separator: " and ")
        if let neighbours { text += "; \(neighbours)" }
        return "\(text); \(result.rate.text)"
    }

    // MARK: Cuts

    private func bytes(of send: Int) -> [UInt8] {
        result.candidate.payloads[send] ?? base.sites.first { $0.step == send }?.bytes ?? []
    }

    private func shown(_ send: Int) -> String { Escaped.literal(bytes(of: send), limit: 60) }

    private func cut(_ send: Int, _ variation: Variation) -> String {
        let offsets = variation.offsets(of: send)
        let isSealed = base.sites.first { $0.step == send }?.isSealed ?? false
        let destination = base.sites.first { $0.step == send }?.destination
        var text =
            shown(send) + (destination.map { " on its way to the \($0.word)" } ?? "")
            + (isSealed ? ", as TLS records," : "") + " is cut at "
        text += offsets.count > 8 ? "\(offsets.count) places" : Self.list(offsets)
        if offsets.count == 1, !isSealed, let place = place(of: offsets[0], in: bytes(of: send)) {
            text += ", \(place)"
        }
        if let pause = variation.pauses[send] {
            text += ", with \(DurationText.script(pause)) between the pieces"
        }
        return text
    }

    /// Returns a description of the position of a cut, such as `between CR and LF`; `nil` if the position is not
    /// special.
    private func place(of offset: Int, in bytes: [UInt8]) -> String? {
        guard offset > 0, offset < bytes.count else { return nil }
        let (before, after) = (bytes[offset - 1], bytes[offset])
        if before == 13, after == 10 { return "between CR and LF" }
        if after & 0xC0 == 0x80 { return "inside a character" }
        if let terminator = base.original.framing.terminator, terminator.count > 1 {
            for inside in 1..<terminator.count where offset >= inside {
                let start = offset - inside
                if bytes[start...].starts(with: terminator) { return "inside the terminator" }
            }
        }
        if before == 10 { return "after a line" }
        if after == 13 || after == 10 { return "before the end of a line" }
        return nil
    }

    /// A description of the outcomes at the offsets next to a single cut; `nil` if they are unknown.
    private var neighbours: String? {
        let variation = result.candidate.variation
        guard variation.changes.count == 1, case .cut(let send, let offset)? = variation.changes.first,
            let table = result.cutTables[send], result.candidate.payloads[send] == nil
        else { return nil }
        let others = table.allFailing.filter { $0 != offset }
        var parts: [String] = []
        if !others.isEmpty {
            let rows = ShrinkResult.CutTable.rows(others)
            let places =
                rows.count > 6
                ? "\(others.count) other places"
                : Self.list(
                    rows.flatMap { $0.count > 2 ? ["\($0.lowerBound) to \($0.upperBound)"] : $0.map { "\($0)" } })
            parts.append("\(places) \(others.count == 1 ? "fails" : "fail") too")
        }
        let beside = table.passing(around: offset)
        if !beside.isEmpty { parts.append("\(Self.list(beside)) \(beside.count == 1 ? "passes" : "pass")") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static func list(_ numbers: [Int]) -> String { list(numbers.map { "\($0)" }) }

    private static func list(_ texts: [String]) -> String {
        guard let last = texts.last else { return "" }
        return texts.count == 1 ? last : texts.dropLast().joined(separator: ", ") + " and \(last)"
    }
}
