import ProbeBase

/// A variation as text that remains meaningful if the script is edited: sends are counted per endpoint, so that steps
/// may be added or removed elsewhere.
///
///     C 1 cut at 6, 7 every 1ms
///     C 1 joined to 2
///     C 1 in records of 16B
///     C 2 with fin
///     C 2 then half-close
///     C with receive-buffer 2KiB
///     C reads 1B per ms
package struct VariationText {
    private let sites: [SendSite]
    private let options: [Change]

    /// - Parameter options: the changes of endpoints that are possible.
    package init(sites: [SendSite], options: [Change]) {
        (self.sites, self.options) = (sites, options)
    }

    // MARK: Writing

    /// Returns the text of a variation, one line for each send or endpoint; `nil` if it changes a step that is not a
    /// known send.
    package func text(of variation: Variation) -> String? {
        var lines: [String] = []
        for send in variation.cutSends {
            guard let name = name(of: send) else { return nil }
            let offsets = variation.offsets(of: send).map { "\($0)" }.joined(separator: ", ")
            let pause = variation.pauses[send].map { " every \($0.nanoseconds / 1_000_000)ms" } ?? ""
            lines.append("\(name) cut at \(offsets)\(pause)")
        }
        for change in variation.changes {
            let line: String?
            switch change {
            case .cut: continue
            case .join(let first, let second):
                line = name(of: first).flatMap { name in place(of: second).map { "\(name) joined to \($0.number)" } }
            case .records(let send, let size): line = name(of: send).map { "\($0) in records of \(size)B" }
            case .fin(let send, _): line = name(of: send).map { "\($0) with fin" }
            case .earlyEnd(let send): line = name(of: send).map { "\($0) then half-close" }
            case .option, .slowReading: line = Self.text(of: change)
            }
            guard let line else { return nil }
            lines.append(line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the text of a change of an endpoint.
    private static func text(of change: Change) -> String? {
        switch change {
        case .option(let actor, let option): return "\(actor) with \(option.text)"
        case .slowReading(let actor, _, let bytes): return "\(actor) reads \(bytes)B per ms"
        default: return nil
        }
    }

    private func place(of step: Int) -> (actor: String, number: Int)? {
        guard let actor = sites.first(where: { $0.step == step })?.actor else { return nil }
        let own = sites.filter { $0.actor == actor }
        return own.firstIndex { $0.step == step }.map { (actor, $0 + 1) }
    }

    private func name(of step: Int) -> String? { place(of: step).map { "\($0.actor) \($0.number)" } }

    // MARK: Reading

    /// Returns the variation that a text describes; `nil` if the scenario no longer permits it.
    package func variation(_ text: String) -> Variation? {
        var variation = Variation()
        for line in text.split(separator: "\n") {
            guard read(line, into: &variation) else { return nil }
        }
        return variation.isEmpty ? nil : variation
    }

    private func read(_ line: Substring, into variation: inout Variation) -> Bool {
        if let change = options.first(where: { Self.text(of: $0) == String(line) }) {
            variation.add(change)
            return true
        }
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let number = Int(words[1]), let site = site(words[0], number) else { return false }
        let rest = words[2]
        if let cuts = rest.removing(prefix: "cut at ") { return readCuts(cuts, of: site, into: &variation) }
        if let other = rest.removing(prefix: "joined to ") {
            guard let second = Int(other).flatMap({ self.site(words[0], $0) }), site.next == second.step else {
                return false
            }
            variation.add(.join(first: site.step, second: second.step))
        } else if let size = rest.removing(prefix: "in records of ") {
            guard size.last == "B", let bytes = Int(size.dropLast()), site.isSealed, 0 < bytes,
                bytes < site.bytes.count
            else { return false }
            variation.add(.records(send: site.step, size: bytes))
        } else if rest == "with fin" {
            guard site.end != nil || site.mayEnd else { return false }
            variation.add(.fin(send: site.step, end: site.end ?? site.step))
        } else if rest == "then half-close" {
            guard site.mayEnd else { return false }
            variation.add(.earlyEnd(send: site.step))
        } else {
            return false
        }
        return true
    }

    private func readCuts(_ text: Substring, of site: SendSite, into variation: inout Variation) -> Bool {
        let parts = text.split(separator: " every ", maxSplits: 1)
        guard let list = parts.first else { return false }
        let offsets = list.split(separator: ", ").map { Int($0) ?? 0 }
        guard !offsets.isEmpty, offsets.allSatisfy({ 0 < $0 && $0 < site.length }) else { return false }
        if parts.count == 2 {
            guard parts[1].hasSuffix("ms"), let count = Int(parts[1].dropLast(2)), (1...10_000).contains(count),
                site.allows(offsets.count, of: .milliseconds(count))
            else { return false }
            variation.pauses[site.step] = .milliseconds(count)
        }
        for offset in offsets { variation.add(.cut(send: site.step, at: offset)) }
        return true
    }

    private func site(_ actor: Substring, _ number: Int) -> SendSite? {
        let own = sites.filter { $0.actor == actor }
        guard number >= 1, number <= own.count else { return nil }
        return own[number - 1]
    }
}

extension Substring {
    fileprivate func removing(prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}

extension ExploredScenario {
    /// Writes and reads the scenario's variations.
    package var variationText: VariationText {
        VariationText(sites: sites, options: reading.options + reading.slowReading)
    }
}
