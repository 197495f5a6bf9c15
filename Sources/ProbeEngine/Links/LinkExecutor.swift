import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeScenario
import ProbeSystem

/// Runs `link` steps. The fault is in effect when the step returns.
struct LinkExecutor {
    let context: CaseContext

    func act(_ statement: LinkStep, _ step: Step) async throws(Finding) {
        let from = try place(of: statement.from)
        let to = try place(of: statement.to)
        guard from.index == to.index, from.side != to.side else {
            throw Finding(
                .error, at: statement.to.span,
                "\(statement.from.value) and \(statement.to.value) are not the two ends of one link")
        }
        let text = context.text(of: step.span)
        let command = try command(for: statement.action)
        // Packets sent before this step must not be affected by its fault, so the link reads them first.
        if context.links.faults.contains(where: { $0.link == from.index }) {
            if !(await context.links.catchUp(from.index)) {
                context.note(
                    Finding(
                        .inconclusive, at: step.span,
                        "`\(text)` may also have affected packets sent before this step: the link did not process "
                            + "those packets in time",
                        hints: ["run the case again on a machine that is less busy"]))
            }
        }
        let number = context.links.add(CaseLinks.Fault(span: step.span, text: text, link: from.index))
        do throws(LinkError) {
            try context.links.links[from.index].apply(
                command, id: number, from: statement.isBothWays ? nil : from.side)
        } catch {
            throw Finding(.error, at: step.span, "`\(text)` is impossible: \(error.text)")
        }
        let (one, other) = (statement.from.value, statement.to.value)
        let direction = statement.isBothWays ? "between \(one) and \(other)" : "from \(one) to \(other)"
        context.conditions.add(at: step.span, isOptional: step.isOptional) { [weak context] in
            context?.links.shortfall(of: number).map { Self.shortfall($0, text, direction) }
        }
    }

    private static func shortfall(_ shortfall: LinkShortfall, _ text: String, _ direction: String)
        -> Condition.Shortfall
    {
        let hints = [
            "look in the capture for the packets that passed: they are counted from this step on",
            "add `if needed` to the end of the step if the step may have no effect",
        ]
        let reason = shortfall.reason(direction)
        if shortfall.missing.isEmpty { return .never(text, reason, hints: hints) }
        let noun = shortfall.missing.map(\.count) == [1] ? "packet" : "packets"
        return Condition.Shortfall(
            "`\(text)` had no effect on \(noun) \(shortfall.missingText): \(reason)", hints: hints)
    }

    /// Returns the link side to which an actor from the header, or a connection accepted by such an actor, is attached.
    private func place(of name: Name) throws(Finding) -> CaseLinks.Place {
        if let place = context.links.place(of: name.value) { return place }
        if case .connection(let actor)? = context.actors[name.value], case .accepted(let server) = actor.role,
            let place = context.links.place(of: server)
        {
            return place
        }
        throw Finding(
            .error, at: name.span, "\(name.value) is not on a link",
            hints: ["add `link \(name.value) <-> T` to the header"])
    }

    // MARK: Values

    private func command(for action: LinkCommand<Parsed>) throws(Finding) -> LinkCommand<Resolved> {
        switch action {
        case .packets(let fault, let selection): .packets(fault, try self.selection(selection))
        case .truncate(let selection, let size):
            .truncate(try self.selection(selection), to: try context.integer(of: size))
        case .release: .release
        case .reset(let place): .reset(place)
        case .resetBehind(let selection): .resetBehind(try self.selection(selection))
        case .shutWindow: .shutWindow
        case .window(let size): .window(try context.integer(of: size))
        case .strip(let option): .strip(option)
        case .clampMSS(let size): .clampMSS(try context.integer(of: size))
        case .inject(let value): .inject(try injected(value))
        case .unreachable(nil): .unreachable(nil)
        case .unreachable(let selection?): .unreachable(try self.selection(selection))
        case .mtu(let size, let isSilent): .mtu(try context.integer(of: size), isSilent: isSilent)
        case .delay(let duration, let jitter, let seed, let mayReorder):
            .delay(duration, jitter: jitter, seed: try self.seed(seed), mayReorder: mayReorder)
        case .rate(let rate, let queue): .rate(bytesPerSecond: rate, queue: try number(queue))
        case .loss(let percent, let seed, let burst):
            .loss(percent: percent, seed: try self.seed(seed), burst: try number(burst))
        case .burst(let count): .burst(try context.integer(of: count))
        case .down: .down
        case .up: .up
        case .heal: .heal
        }
    }

    private func number(_ expression: Expression?) throws(Finding) -> Int? {
        guard let expression else { return nil }
        return try context.integer(of: expression)
    }

    /// Returns the bytes to inject, which must fit in one segment.
    private func injected(_ value: Expression) throws(Finding) -> [UInt8] {
        let bytes = try context.bytes(of: value)
        guard LinkCommand<Parsed>.injectable.contains(bytes.count) else {
            throw Finding(
                .error, at: value.span,
                "can't inject \(ByteText.count(bytes.count, "byte")): a segment on the link has 1 to "
                    + "\(LinkCommand<Parsed>.injectable.upperBound) bytes",
                hints: ["use several `inject` steps"])
        }
        return bytes
    }

    private func selection(_ selection: PacketSelection<Parsed>) throws(Finding) -> PacketSelection<Resolved> {
        PacketSelection(
            kind: selection.kind, ordinals: try ordinals(selection.ordinals), isAgain: selection.isAgain)
    }

    private func ordinals(_ ordinals: PacketOrdinals) throws(Finding) -> ClosedRange<Int>? {
        switch ordinals.kind {
        case .all: return nil
        case .one(let value):
            let number = try context.integer(of: value)
            return number...number
        case .range(let first, let last):
            let low = try context.integer(of: first)
            let high = try context.integer(of: last)
            guard low <= high else {
                throw Finding(
                    .error, at: ordinals.span,
                    "invalid packet range \(low)..\(high): the last packet is before the first")
            }
            return low...high
        }
    }

    /// Returns the seed of a statement (by default 1) plus the run's seed, so that `--seed` selects different packets.
    private func seed(_ expression: Expression?) throws(Finding) -> UInt64 {
        let own = try number(expression) ?? 1
        return UInt64(bitPattern: Int64(own &+ context.settings.seed))
    }
}
