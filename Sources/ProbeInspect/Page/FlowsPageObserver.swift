package import ProbeBase
import ProbeReport
package import ProbeWire

/// Gathers what the page shows of the first flows that it sees; of the others nothing.
package final class FlowsPageObserver: InspectionObserver {
    /// By the number of the flow.
    package private(set) var records: [Int: FlowRecord] = [:]
    private let limit: Int
    private let decrypts: Bool
    /// For each flow what makes lines of its streams.
    private var streams: [Int: any InspectionObserver] = [:]

    /// - Parameters:
    ///   - limit: the most flows.
    ///   - decrypts: what TLS has encrypted is left out of the streams. What was decrypted is added by `show`.
    package init(limit: Int, decrypts: Bool = false) {
        self.limit = limit
        self.decrypts = decrypts
    }

    package func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let number = conversation.number
        if records[number] == nil {
            guard records.count < limit else { return }
            records[number] = FlowRecord()
            streams[number] = stream(of: number)
        }
        records[number]?.add(packet, payload: payload)
        streams[number]?.see(packet, payload: payload, in: conversation)
    }

    package func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        let number = conversation.number
        guard let stream = streams[number] else { return }
        // What would not be shown is not put into lines. TLS is looked for to the end.
        if !decrypts, records[number]?.isFull == true {
            records[number]?.noteMoreLines()
            return
        }
        stream.see(part, from: side, in: conversation)
    }

    package func see(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        records[conversation.number]?.add(report)
    }

    package func end(of conversation: Conversation) { streams[conversation.number]?.end(of: conversation) }

    private func stream(of number: Int) -> any InspectionObserver {
        let lines = FollowObserver { [unowned self] line in self.records[number]?.add(line: line) }
        return decrypts ? DecryptionObserver(showing: lines) : lines
    }

    /// The streams of a flow that has TLS, for what can be decrypted of it.
    package func encrypted(_ number: Int) -> DecryptionObserver? {
        guard let stream = streams[number] as? DecryptionObserver, stream.hasTLS else { return nil }
        return stream
    }
}
