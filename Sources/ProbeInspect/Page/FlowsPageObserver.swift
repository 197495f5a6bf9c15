package import ProbeBase
import ProbeReport
package import ProbeWire

/// Collects the data of the first flows of the capture. The page shows these flows in full.
package final class FlowsPageObserver: InspectionObserver {
    /// The collected data of each flow, by flow number.
    package private(set) var records: [Int: FlowRecord] = [:]
    private let limit: Int
    private let decrypts: Bool
    private let evidence: Set<Int>
    /// The observers that split the streams of each flow into lines.
    private var streams: [Int: any InspectionObserver] = [:]

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of flows to collect.
    ///   - decrypts: whether encrypted TLS data is omitted from the streams. `show` adds the decrypted data.
    ///   - evidence: the numbers of the packets that findings cite, counting from 1. The ladders include these packets.
    package init(limit: Int, decrypts: Bool = false, evidence: Set<Int> = []) {
        self.limit = limit
        self.decrypts = decrypts
        self.evidence = evidence
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let number = conversation.number
        if records[number] == nil {
            guard records.count < limit else { return }
            records[number] = FlowRecord()
            streams[number] = stream(of: number)
        }
        records[number]?.add(packet, payload: payload, isEvidence: evidence.contains(packet.number))
        streams[number]?.observe(packet, payload: payload, in: conversation)
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        let number = conversation.number
        guard let stream = streams[number] else { return }
        // Data that will not be shown is not split into lines. If TLS is to be decrypted, however, the entire stream is
        // searched for the beginning of TLS.
        if !decrypts, records[number]?.isFull == true {
            records[number]?.noteMoreLines()
            return
        }
        stream.observe(part, from: side, in: conversation)
    }

    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        records[conversation.number]?.add(report)
    }

    package func end(of conversation: Conversation) { streams[conversation.number]?.end(of: conversation) }

    private func stream(of number: Int) -> any InspectionObserver {
        let lines = FollowObserver { [unowned self] line in self.records[number]?.add(line: line) }
        return decrypts ? DecryptionObserver(showing: lines) : lines
    }

    /// Returns the observer of a flow's streams, so that decrypted data can be passed to it; `nil` if the flow contains
    /// no TLS.
    package func encrypted(_ number: Int) -> DecryptionObserver? {
        guard let stream = streams[number] as? DecryptionObserver, stream.hasTLS else { return nil }
        return stream
    }
}
