import ProbeBase
import ProbeScenario
import ProbeWire

/// What the faults of links did to packets, in words: for the comments of a capture and for the timeline. Pure.
struct LinkComments {
    /// A packet that arrived other than it left.
    struct Changed {
        var packet: CapturedPacket
        var comments: [String]
        /// The segment in one line.
        var text: String
        /// Where it arrived.
        var place: CaseLinks.Place
    }

    private(set) var changed: [Changed] = []
    private let faults: [Int: [Int]]
    /// `crlf.scn:11 link S -> T drop data 3`, by the fault's number.
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

    /// Of an entry of what left.
    func comments(of index: Int) -> [String] {
        (faults[index] ?? []).filter(texts.indices.contains).map { texts[$0] }
    }

    private static func text(of packet: CapturedPacket) -> String {
        // What can't be decoded is shown by its length.
        guard case .tcp(let segment)? = try? packet.decoded(linkType: .ethernet) else {
            return "\(packet.bytes.count) bytes"
        }
        return "\(segment.source) -> \(segment.destination)  \(segment.flags) len \(segment.payload.count)"
    }
}
