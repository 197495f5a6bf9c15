import ProbeBase

/// The number of first transmissions that one direction of a link has carried, by kind of packet.
struct LinkTally: Sendable, Equatable {
    private var counts = [Int](repeating: 0, count: PacketKind.allCases.count)

    subscript(kind: PacketKind) -> Int {
        get { counts[kind.index] }
        set { counts[kind.index] = newValue }
    }
}

/// The effect of a link command since it was issued, and the packets that have passed since then.
struct LinkEffect: Sendable {
    /// The reason why a fault left a packet that it had selected unchanged.
    enum Obstacle: Sendable {
        /// The fault can't be applied to a packet of this kind.
        case impossible
        /// Another fault already acted on the packet.
        case takenByAnother
        /// No later packet arrived with which the packet could have been swapped.
        case notFollowed
    }

    let command: LinkCommand<Resolved>
    /// The side whose packets are affected; `nil` for both sides.
    let from: LinkSide?
    /// The number of packets that the command dropped, changed, delayed or created. For a state that can affect any
    /// packet, the number of packets that passed while the state was in effect.
    var count = 0
    /// The ordinals in a finite selection that have been affected, in ascending order; adjacent ranges are merged.
    private(set) var members: [ClosedRange<Int>] = []
    var obstacle: Obstacle?
    /// The number of packets that each direction had carried when the command was issued.
    let before: LinkPair<LinkTally>
    /// The number of packets that each direction had carried when the command was replaced or ended by `heal`; `nil`
    /// while the command is in effect.
    var until = LinkPair<LinkTally?>(nil, nil)

    init(_ command: LinkCommand<Resolved>, from: LinkSide?, _ before: LinkPair<LinkTally>) {
        (self.command, self.from, self.before) = (command, from, before)
    }

    mutating func add(member: Int) {
        let index = members.firstIndex { $0.upperBound >= member - 1 } ?? members.count
        guard index < members.count, members[index].lowerBound <= member + 1 else {
            return members.insert(member...member, at: index)
        }
        let joined = min(members[index].lowerBound, member)...max(members[index].upperBound, member)
        members[index] = joined
        if index + 1 < members.count, members[index + 1].lowerBound <= joined.upperBound + 1 {
            members[index] = joined.lowerBound...members[index + 1].upperBound
            members.remove(at: index + 1)
        }
    }

    mutating func remove(member: Int) {
        guard let index = members.firstIndex(where: { $0.contains(member) }) else { return }
        let whole = members.remove(at: index)
        if member < whole.upperBound { members.insert(member + 1...whole.upperBound, at: index) }
        if member > whole.lowerBound { members.insert(whole.lowerBound...member - 1, at: index) }
    }

    /// The ordinals in a finite selection that have not been affected.
    var missing: [ClosedRange<Int>] {
        guard let all = command.selection?.ordinals else { return [] }
        var missing: [ClosedRange<Int>] = []
        var next = all.lowerBound
        for part in members {
            if part.lowerBound > next { missing.append(next...part.lowerBound - 1) }
            next = max(next, part.upperBound + 1)
        }
        if next <= all.upperBound { missing.append(next...all.upperBound) }
        return missing
    }

    var isMet: Bool { command.selection?.ordinals == nil ? count > 0 : missing.isEmpty }

    /// Returns the number of packets of a kind that passed while the command was in effect.
    func passed(_ kind: PacketKind, _ now: LinkPair<LinkTally>) -> Int {
        (from.map { [$0] } ?? LinkSide.allCases).reduce(0) { sum, side in
            sum + (until[side] ?? now[side])[kind] - before[side][kind]
        }
    }
}

/// A link command that did not have the requested effect, and the packets that passed instead.
package struct LinkShortfall: Sendable, Equatable {
    /// The unique number of the link command.
    package let id: Int
    /// The ordinals in the command's selection that were not affected although others were; empty if no ordinal was
    /// affected at all.
    package let missing: [ClosedRange<Int>]
    /// A clause that states which packets passed instead; `%` is a placeholder for the direction.
    private let reason: String

    init(_ id: Int, _ effect: LinkEffect, _ now: LinkPair<LinkTally>) {
        self.id = id
        missing = effect.count > 0 ? effect.missing : []
        reason = Self.reason(effect, now)
    }

    /// Returns a clause that states which packets passed instead.
    ///
    /// - Parameter direction: text such as `from S to C`.
    package func reason(_ direction: String) -> String { reason.replacing("%", with: direction, maxReplacements: 1) }

    /// The ordinals in the command's selection that were not affected although others were, as text such as `4, 6 to
    /// 9`; empty if no ordinal was affected at all.
    package var missingText: String {
        missing.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
            .joined(separator: ", ")
    }

    private static func reason(_ effect: LinkEffect, _ now: LinkPair<LinkTally>) -> String {
        func passed(_ kind: PacketKind) -> String {
            let count = effect.passed(kind, now)
            return "\(count == 0 ? "no" : "\(count)") \(kind.noun(count)) passed %"
        }
        if let selection = effect.command.selection { return passed(selection.kind) + obstacle(effect, selection) }
        switch effect.command {
        case .packets, .truncate, .resetBehind, .unreachable, .down: return passed(.any)
        case .release: return "no packet was held %"
        case .reset, .inject: return "no connection was open %"
        case .window, .shutWindow: return passed(.any) + ", and none advertised a larger window"
        case .strip:
            let count = effect.passed(.syn, now) + effect.passed(.synack, now)
            return "\(count == 0 ? "no" : "\(count)") SYN or SYN-ACK passed %, none with the option"
        case .clampMSS: return "no SYN with an MSS and no data packet passed %"
        case .mtu: return passed(.data)
        case .delay: return passed(.any)
        case .rate: return passed(.any) + ", and none had to wait"
        case .loss(_, _, let burst?) where burst > 1:
            return passed(.any) + ", and no two in a row were lost"
        case .loss: return passed(.any) + ", and none was lost"
        case .burst(let count):
            return passed(.any) + (count > 1 ? ", and no two in a row were lost" : ", and none was lost")
        case .up: return "nothing was down %"
        case .heal: return "no fault and no state was in force %"
        }
    }

    private static func obstacle(_ effect: LinkEffect, _ selection: PacketSelection<Resolved>) -> String {
        switch effect.obstacle {
        case nil: return selection.isAgain ? ", and no copy of it followed" : ""
        case .takenByAnother: return ", and another fault acted on the selected one"
        case .notFollowed: return ", and none followed the selected one within 200 ms"
        case .impossible:
            switch effect.command {
            case .truncate(_, let size): return ", and the selected one has \(size) bytes or fewer"
            case .packets(.alter, _): return ", and the selected one has no payload"
            default: return ", and the selected one is not a TCP segment"
            }
        }
    }
}

extension PacketKind {
    fileprivate var index: Int {
        switch self {
        case .data: 0
        case .syn: 1
        case .synack: 2
        case .ack: 3
        case .fin: 4
        case .rst: 5
        case .any: 6
        }
    }

    fileprivate func noun(_ count: Int) -> String {
        let (one, several) =
            switch self {
            case .data: ("data packet", "data packets")
            case .syn: ("SYN", "SYNs")
            case .synack: ("SYN-ACK", "SYN-ACKs")
            case .ack: ("ACK without data", "ACKs without data")
            case .fin: ("FIN", "FINs")
            case .rst: ("RST", "RSTs")
            case .any: ("packet", "packets")
            }
        return count == 1 || count == 0 ? one : several
    }
}
