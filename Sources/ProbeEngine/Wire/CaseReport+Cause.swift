import ProbeBase
import ProbeDiagnose
import ProbeEvents
import ProbeWire

/// Diagnoses the packets of a failed case.
extension CaseReport {
    /// The number of packets that are diagnosed. A case with more packets is diagnosed with `tcpprobe diagnose`.
    private static let diagnosedPackets = 100_000

    /// Returns the most severe finding about the case's connections, as a sentence that follows the names of the
    /// connection's client and server; `nil` if the packets show neither a problem nor a warning.
    func cause() -> String? {
        let names = context.wireNames()
        let traffic = names.traffic
        let linkType = context.capture.capture?.packetLinkType ?? .ethernet
        let packets = names.ownPackets
        guard !packets.isEmpty, packets.count <= Self.diagnosedPackets else { return nil }
        var diagnosis = CaptureDiagnosis()
        var connections: [Int] = []
        var known: Set<Int> = []
        for index in packets {
            let entry = traffic.entries[index]
            guard let summary = entry.summary, let segment = segment(of: entry.packet, linkType) else { continue }
            if known.insert(summary.conversation).inserted { connections.append(summary.conversation) }
            diagnosis.note(
                summary, segment, payload: entry.packet.bytes.span.extracting(entry.payload),
                ConversationFacts(traffic[conversation: summary.conversation]))
        }
        let found = connections.compactMap { number -> (number: Int, finding: FlowFinding)? in
            guard let finding = diagnosis.end(of: traffic[conversation: number])?.findings.first else { return nil }
            return (number, finding)
        }
        guard let worst = found.min(by: { $0.finding.severity < $1.finding.severity }), worst.finding.severity != .note
        else { return nil }
        let client = names.name(worst.number, .client)
        let server = names.name(worst.number, .server)
        let finding = worst.finding
        return "\(client) -> \(server): \(finding.sentence) [\(finding.id.rawValue), \(finding.certainty.rawValue)]"
    }

    private func segment(of packet: CapturedPacket, _ linkType: LinkType) -> DecodedTCP? {
        do throws(PacketError) {
            guard case .tcp(let segment) = try packet.decoded(linkType: linkType) else { return nil }
            return segment
        } catch {
            // A packet that can't be decoded belongs to no connection.
            return nil
        }
    }
}
