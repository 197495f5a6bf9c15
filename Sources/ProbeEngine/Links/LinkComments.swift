import ProbeBase
import ProbeScenario
import ProbeWire

/// Describes how link faults affected packets, for the comments in a capture file and for the timeline.
struct LinkComments {
    /// A packet that arrived late or altered, or that neither end sent.
    struct Changed {
        var packet: CapturedPacket
        var comments: [String]
        /// A one-line description of the segment.
        var text: String
        /// The end at which the packet arrived.
        var place: CaseLinks.Place
    }

    private(set) var changed: [Changed] = []
    private let faults: [Int: [Int]]
    /// The faults' descriptions, indexed by fault number, such as `crlf.scn:11 link S -> T drop data 3`.
    private let texts: [String]

    init(_ context: CaseContext) {
        let sources = context.sources
        let texts = context.links.faults.map { fault in
            let location = sources.location(of: fault.span)
            let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
            return "\(file):\(location.line) \(fault.text)"
        }
        self.texts = texts
        faults = context.capture.link.faults
        changed = context.capture.link.changed.map { entry in
            let beginning =
                entry.isDuplicate
                ? LinkView.copyComment : entry.isMadeByLink ? "made by the link" : "as it arrived"
            let met = entry.faults.filter(texts.indices.contains).map { texts[$0] }
            return Changed(
                packet: entry.packet, comments: met.isEmpty ? [beginning] : met.map { "\(beginning): \($0)" },
                text: Self.text(of: entry.packet), place: entry.place)
        }
    }

    /// Returns the comments of the sent packet with the given index.
    func comments(of index: Int) -> [String] {
        (faults[index] ?? []).filter(texts.indices.contains).map { texts[$0] }
    }

    private static func text(of packet: CapturedPacket) -> String {
        // A packet that can't be decoded is described by its length.
        guard case .tcp(let segment)? = try? packet.decoded(linkType: .ethernet) else {
            return ByteText.count(packet.bytes.count, "byte")
        }
        return "\(segment.source) -> \(segment.destination)  \(segment.flags) len \(segment.payload.count)"
    }
}
