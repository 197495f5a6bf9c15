package import ProbeBase
import ProbeEvents
package import ProbeWire

/// Splits both directions of each flow into messages, and reports each message. A message is shown with its number,
/// offset, length, number of segments, terminator and content. In the content, `|` marks the beginning of another
/// segment, as in the `send` step of a script.
package final class MessageObserver: InspectionObserver {
    /// A function that receives the messages and gaps.
    package typealias Sink = (MessageScan.Event, Conversation, ConversationSide) -> Void

    private struct Key: Hashable {
        var flow: Int
        var side: ConversationSide
    }

    private let framing: Framing
    private let sink: Sink
    private var scans: [Key: MessageScan] = [:]
    private var segmentCounts: [Key: Int] = [:]

    package init(framing: Framing, sink: @escaping Sink) {
        self.framing = framing
        self.sink = sink
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let summary = packet.summary
        let key = Key(flow: conversation.number, side: summary.side)
        let count = conversation.halfConnection(from: summary.side).segmentCount
        // Only segments that contain new bytes count as segment boundaries.
        guard count > segmentCounts[key, default: 0] else { return }
        segmentCounts[key] = count
        let start = max(summary.relativeSequence - 1, 0)
        scans[key, default: MessageScan(framing: framing)].note(
            segment: start..<start + Int64(max(summary.payloadLength, 0)))
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        let key = Key(flow: conversation.number, side: side)
        let events = scans[key, default: MessageScan(framing: framing)].add(part)
        for event in events { sink(event, conversation, side) }
    }

    package func end(of conversation: Conversation) {
        for side in ConversationSide.allCases {
            guard var scan = scans.removeValue(forKey: Key(flow: conversation.number, side: side)) else { continue }
            for event in scan.finish() { sink(event, conversation, side) }
        }
    }
}
