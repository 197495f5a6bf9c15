package import ProbeBase
import ProbeEvents
package import ProbeWire

/// Divides both directions of each flow into messages, and writes each on a line: number, offset, length, segments,
/// terminator, and the content with `|` where another segment begins, as in a script's `send`.
package final class MessageObserver: InspectionObserver {
    /// Receives the messages.
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
        // Only segments with a byte that was sent for the first time divide the stream.
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
