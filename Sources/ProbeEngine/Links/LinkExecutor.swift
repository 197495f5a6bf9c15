import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeScenario
import ProbeSystem

/// Runs `link` steps: each is in force when it returns.
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
        // What was sent before this step meets what was in force then.
        if context.links.faults.contains(where: { $0.link == from.index }) {
            _ = await context.links.catchUp(from.index)
        }
        let number = context.links.add(CaseLinks.Fault(span: step.span, text: text, link: from.index))
        do throws(LinkError) {
            try context.links.links[from.index].apply(
                command, id: number, from: statement.isBothWays ? nil : from.side)
        } catch {
            throw Finding(.error, at: step.span, "`\(text)` can't be done: \(error.text)")
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
            "packets are counted from the step on; the capture shows which ones passed",
            "if it may be left without effect, end the step with `if needed`",
        ]
        let reason = shortfall.reason(direction)
        if shortfall.missing.isEmpty { return .never(text, reason, hints: hints) }
        return Condition.Shortfall("`\(text)` was not met for \(shortfall.missingText): \(reason)", hints: hints)
    }

    /// Of an actor of the header, or of a connection that one accepted.
    private func place(of name: Name) throws(Finding) -> CaseLinks.Place {
        if let place = context.links.place(of: name.value) { return place }
        if case .connection(let actor)? = context.actors[name.value], case .accepted(let server) = actor.role,
            let place = context.links.place(of: server)
        {
            return place
        }
        throw Finding(
            .error, at: name.span, "\(name.value) is on no link",
            hints: ["`link \(name.value) <-> T` in the header puts it on one"])
    }

    // MARK: Values

    private func command(for action: LinkAction) throws(Finding) -> LinkCommand {
        switch action {
        case .packets(let fault, let selection):
            .packets(try self.fault(fault), try self.selection(selection))
        case .release: .release
        case .reset(let place):
            switch place {
            case .now: .reset(.now)
            case .outsideWindow: .reset(.outsideWindow)
            case .behind(let selection): .reset(.behind(try self.selection(selection)))
            }
        case .shutWindow: .window(0)
        case .window(let size): .window(try context.integer(of: size))
        case .strip(let option): .strip(Self.option(option))
        case .clampMSS(let size): .clampMSS(try context.integer(of: size))
        case .inject(let value): .inject(try injected(value))
        case .unreachable(let selection):
            .unreachable(
                try selection.map { (selection) throws(Finding) in try self.selection(selection) })
        case .mtu(let size, let isSilent): .mtu(try context.integer(of: size), isSilent: isSilent)
        case .delay(let duration, let jitter, let seed, let mayReorder):
            .delay(duration, jitter: jitter ?? .zero, seed: try self.seed(seed), mayReorder: mayReorder)
        case .rate(let rate, let queue):
            .rate(
                bytesPerSecond: rate,
                queue: try queue.map { (queue) throws(Finding) in try context.integer(of: queue) })
        case .loss(let percent, let seed, let burst):
            .loss(
                percent: percent, seed: try self.seed(seed),
                burst: try burst.map { (burst) throws(Finding) in try context.integer(of: burst) } ?? 1)
        case .burst(let count): .burst(try context.integer(of: count))
        case .down: .down
        case .up: .up
        case .heal: .heal
        }
    }

    /// It has to fit one segment.
    private func injected(_ value: Expression) throws(Finding) -> [UInt8] {
        let bytes = try context.bytes(of: value)
        guard LinkAction.injectable.contains(bytes.count) else {
            throw Finding(
                .error, at: value.span,
                "\(bytes.count) bytes can't be injected: a segment on the link has 1 to \(LinkAction.injectable.upperBound)",
                hints: ["write several `inject` steps"])
        }
        return bytes
    }

    private func fault(_ fault: PacketFault) throws(Finding) -> LinkFault {
        switch fault {
        case .drop: .drop
        case .duplicate: .duplicate
        case .delay(let duration): .delay(duration)
        case .swap: .swap
        case .breakChecksum: .breakChecksum
        case .alter: .alter
        case .truncate(let size): .truncate(try context.integer(of: size))
        case .hold: .hold
        }
    }

    private func selection(_ selection: PacketSelection) throws(Finding) -> LinkSelection {
        let kind: LinkPacketKind =
            switch selection.kind {
            case .data: .data
            case .syn: .syn
            case .synack: .synack
            case .ack: .ack
            case .fin: .fin
            case .rst: .rst
            case .any: .any
            }
        let ordinals: ClosedRange<Int>?
        switch selection.ordinals {
        case .all: ordinals = nil
        case .one(let value):
            let number = try context.integer(of: value)
            ordinals = number...number
        case .range(let first, let last):
            let low = try context.integer(of: first)
            let high = try context.integer(of: last)
            guard low <= high else {
                throw Finding(.error, at: selection.span, "the packets \(low)..\(high): the last is before the first")
            }
            ordinals = low...high
        }
        return LinkSelection(kind: kind, ordinals: ordinals, isAgain: selection.isAgain)
    }

    private static func option(_ option: StrippedOption) -> LinkTCPOption {
        switch option {
        case .sack: .sack
        case .wscale: .wscale
        case .timestamps: .timestamps
        case .mss: .mss
        }
    }

    /// With the run's own added, so that `--seed` gives other packets; without one it is 1.
    private func seed(_ expression: Expression?) throws(Finding) -> UInt64 {
        let own = try expression.map { (seed) throws(Finding) in try context.integer(of: seed) } ?? 1
        return UInt64(bitPattern: Int64(own &+ context.settings.seed))
    }
}
