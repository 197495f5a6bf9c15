import ProbeBase

/// A fault for selected packets on a link, with the number of packets that it has counted.
struct LinkRule {
    enum Action: Equatable {
        case fault(PacketFault)
        case truncate(to: Int)
        case unreachable
        case resetBehind
    }

    /// A packet whose retransmission is selected.
    private struct Target {
        var stream: LinkStreamKey
        var sequence: UInt32
        var ordinal: Int
    }

    let id: Int
    /// The side whose packets are affected; `nil` for both sides.
    let from: LinkSide?
    let selection: PacketSelection<Resolved>
    let action: Action
    /// The number of first transmissions since the rule took effect.
    private var count = 0
    private var targets: [Target] = []
    /// Whether the rule can't select any further packets.
    private(set) var isUsedUp = false

    init(id: Int, from: LinkSide?, _ selection: PacketSelection<Resolved>, _ action: Action) {
        self.id = id
        self.from = from
        self.selection = selection
        self.action = action
    }

    /// Counts a packet. Every rule counts every packet, including packets that another rule acts on.
    ///
    /// - Returns: the packet's ordinal in the selection, or 0 if the selection has no ordinals; `nil` if the packet is
    ///   not selected.
    mutating func counts(
        _ tcp: LinkFrame.TCP?, _ novelty: LinkStream.SegmentNovelty, _ stream: LinkStreamKey?, from side: LinkSide
    ) -> Int? {
        guard !isUsedUp, from == nil || from == side else { return nil }
        guard let isNew = Self.isNew(tcp, novelty, selection.kind) else { return nil }
        guard let ordinals = selection.ordinals else { return !selection.isAgain || !isNew ? 0 : nil }
        if isNew {
            count += 1
            guard ordinals.contains(count) else { return nil }
            guard selection.isAgain else { return count }
            if let tcp, let stream {
                let first = Self.first(tcp, selection.kind)
                targets.append(Target(stream: stream, sequence: first, ordinal: count))
            }
            return nil
        }
        guard selection.isAgain, let tcp, let stream else { return nil }
        return targets.first { $0.stream == stream && LinkStream.covers(tcp, $0.sequence) }?.ordinal
    }

    /// Records that the rule has acted on a packet that it counted.
    mutating func take(_ tcp: LinkFrame.TCP?, _ stream: LinkStreamKey?) {
        guard let ordinals = selection.ordinals else { return }
        if selection.isAgain {
            if let tcp,
                let index = targets.firstIndex(where: { $0.stream == stream && LinkStream.covers(tcp, $0.sequence) })
            {
                targets.remove(at: index)
            }
            isUsedUp = targets.isEmpty && count >= ordinals.upperBound
        } else {
            isUsedUp = count >= ordinals.upperBound
        }
    }

    /// Returns the sequence number by which a retransmission of the segment is recognized.
    private static func first(_ tcp: LinkFrame.TCP, _ kind: PacketKind) -> UInt32 {
        kind == .fin ? tcp.sequence &+ tcp.span &- 1 : tcp.sequence
    }

    /// Returns whether a packet of the given kind is a first transmission, or `nil` if the packet is of another kind.
    static func isNew(
        _ tcp: LinkFrame.TCP?, _ novelty: LinkStream.SegmentNovelty, _ kind: PacketKind
    ) -> Bool? {
        guard let tcp else { return kind == .any ? true : nil }
        let hasData = novelty.bringsData || novelty.repeatsData
        switch kind {
        case .data: return hasData ? novelty.bringsData : nil
        case .syn: return tcp.isSYN ? novelty.isNewSYN : nil
        case .synack: return tcp.isSYNACK ? novelty.isNewSYN : nil
        case .fin: return tcp.hasFIN ? novelty.isNewFIN : nil
        case .rst: return tcp.hasRST ? true : nil
        case .ack: return tcp.hasACK && !tcp.hasSYN && !tcp.hasFIN && !tcp.hasRST && !hasData ? true : nil
        case .any:
            let isCopy =
                novelty.repeatsData && !novelty.isNewFIN || tcp.hasSYN && !novelty.isNewSYN
                || tcp.hasFIN && !hasData && !novelty.isNewFIN
            return !isCopy
        }
    }
}
