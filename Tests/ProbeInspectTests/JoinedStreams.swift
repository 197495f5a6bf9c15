import ProbeBase
import ProbeInspect
import ProbeWire

/// An observer that joins the parts of each stream.
final class JoinedStreams: InspectionObserver {
    var bytes: [String: [UInt8]] = [:]
    var gaps: [String: [StreamGap]] = [:]

    func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {}

    func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        let key = "\(conversation.number) \(side)"
        switch part.content {
        case .bytes(let more): bytes[key, default: []] += more
        case .gap(let gap):
            if let last = gaps[key]?.last, last.end == gap.offset, last.cause == gap.cause {
                gaps[key, default: []][(gaps[key]?.count ?? 1) - 1].length += gap.length
            } else {
                gaps[key, default: []].append(gap)
            }
        }
    }

    func end(of conversation: Conversation) {}

    var text: [String] {
        bytes.map { "\($0.key) \($0.value)" }.sorted() + gaps.map { "\($0.key) \($0.value)" }.sorted()
    }
}
