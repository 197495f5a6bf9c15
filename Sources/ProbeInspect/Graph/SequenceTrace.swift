import ProbeWire

/// The data of one direction of a flow that its time-sequence graph shows: the segments that the sender sent, and the
/// acknowledgments and windows that the receiver advertised. The size of the data is limited, however many packets
/// there are.
package struct SequenceTrace: Sendable {
    /// The kinds of marks in a time-sequence graph.
    package enum Kind: Int, Sendable, CaseIterable {
        /// Data that was sent for the first time.
        case data
        case outOfOrder
        /// A retransmission of any kind.
        case retransmission
        /// A tail-loss probe, keep-alive or zero-window probe.
        case probe
        /// A packet with a sequence number that no window allows.
        case outside
        /// Data that the receiver reports as received after a gap.
        case sack
        case duplicateAck
        case shutWindow
        case syn, fin, rst
    }

    private var bars = [[SequenceBar]](repeating: [], count: Kind.allCases.count)
    /// The receiver's acknowledgment numbers over time.
    package private(set) var acknowledgments = SampledLine()
    /// The sums of acknowledgment number and window over time. Each sum is the first sequence number for which the
    /// receiver has no room.
    package private(set) var edges = SampledLine()

    // The following counts are numbers of packets unless noted otherwise.
    package private(set) var segmentCount = 0
    /// The number of bytes of data, excluding retransmissions.
    package private(set) var byteCount: Int64 = 0
    package private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)
    /// The number of times that the window closed.
    package private(set) var shutCount = 0
    private var isShut = false
    private var highestAcknowledgment = Int64.min
    /// The time of the first packet from either side. `lastTime` is the time of the last packet.
    package private(set) var firstTime: Int64?
    package private(set) var lastTime: Int64?

    private static let maxBars = 6000

    package init() {}

    package func bars(_ kind: Kind) -> [SequenceBar] { bars[kind.rawValue] }

    package func count(_ kind: Kind) -> Int { counts[kind.rawValue] }

    /// Adds a packet from either side of the flow.
    ///
    /// - Parameters:
    ///   - isSent: whether the packet was sent by this direction's sender, rather than by its receiver.
    ///   - time: the packet's time in nanoseconds, relative to an arbitrary origin.
    package mutating func add(_ packet: InspectedPacket, isSent: Bool, time: Int64) {
        firstTime = min(firstTime ?? time, time)
        lastTime = max(lastTime ?? time, time)
        if isSent { addSent(packet.summary, time) } else { addReceived(packet, time) }
    }

    private mutating func addSent(_ summary: PacketSummary, _ time: Int64) {
        let start = summary.relativeSequence
        let isSYN = summary.flags.contains(.syn)
        let isFIN = summary.flags.contains(.fin)
        // A SYN and a FIN occupy one sequence number each. Data follows the sequence number of the SYN.
        let length = Int64(summary.payloadLength) + (isSYN ? 1 : 0) + (isFIN ? 1 : 0)
        if summary.payloadLength > 0 { segmentCount += 1 }
        switch summary.kind {
        case .control: break
        case .new, .outOfOrder:
            byteCount += Int64(summary.payloadLength)
            guard summary.payloadLength > 0 else { break }
            mark(
                summary.kind == .new ? .data : .outOfOrder, time, start + (isSYN ? 1 : 0), Int64(summary.payloadLength))
        case .retransmission, .fastRetransmission, .spuriousRetransmission:
            mark(.retransmission, time, start, length)
        case .tailLossProbe, .retransmissionOrProbe, .keepAlive, .zeroWindowProbe: mark(.probe, time, start, length)
        case .copy: return
        case .outOfWindow: return mark(.outside, time, start, length)
        }
        if isSYN { mark(.syn, time, start, 0) }
        if isFIN { mark(.fin, time, start + length - 1, 0) }
        if summary.flags.contains(.rst) { mark(.rst, time, start, 0) }
    }

    private mutating func addReceived(_ packet: InspectedPacket, _ time: Int64) {
        let summary = packet.summary
        guard summary.kind != .outOfWindow else { return }
        if let acknowledgment = summary.relativeAcknowledgment {
            // An older acknowledgment that was overtaken contains no new information, and its window is also outdated
            // (RFC 9293, section 3.10.7.4).
            guard acknowledgment >= highestAcknowledgment else { return }
            highestAcknowledgment = acknowledgment
            acknowledgments.add(acknowledgment, at: time)
            for block in packet.sacks { mark(.sack, time, block.lowerBound, block.upperBound - block.lowerBound) }
            if summary.isDuplicateAck { mark(.duplicateAck, time, acknowledgment, 0) }
            addWindow(summary, above: acknowledgment, time)
        } else if summary.flags.contains(.ack), acknowledgments.points.isEmpty {
            // None of the sender's packets has been captured yet. The data will begin at the relative sequence number
            // 1.
            addWindow(summary, above: 1, time)
        }
    }

    private mutating func addWindow(_ summary: PacketSummary, above acknowledgment: Int64, _ time: Int64) {
        // The window field of a reset has no meaning.
        guard !summary.flags.contains(.rst) else { return }
        edges.add(acknowledgment + Int64(summary.window), at: time)
        if summary.isZeroWindow {
            mark(.shutWindow, time, acknowledgment, 0)
            if !isShut { shutCount += 1 }
        }
        isShut = summary.isZeroWindow
    }

    private mutating func mark(_ kind: Kind, _ time: Int64, _ start: Int64, _ length: Int64) {
        counts[kind.rawValue] += 1
        bars[kind.rawValue].append(SequenceBar(time: time, low: start, high: start + length))
        guard bars[kind.rawValue].count > Self.maxBars else { return }
        bars[kind.rawValue] = SequenceBar.joined(
            bars[kind.rawValue], columns: 2048, rows: 1024, limit: Self.maxBars / 2)
    }

    /// A summary such as `12 segments, 4,096 bytes in 1.2 s, 1 retransmission, window never closed`.
    package var summary: String {
        var parts = [
            "\(NumberText.count(segmentCount, "segment")), \(NumberText.count(Int(clamping: byteCount), "byte"))"
                + " in \(GraphText.duration((lastTime ?? 0) - (firstTime ?? 0)))"
        ]
        parts.append(
            count(.retransmission) == 0
                ? "no retransmission" : NumberText.count(count(.retransmission), "retransmission"))
        if count(.outOfOrder) > 0 { parts.append("\(NumberText.text(count(.outOfOrder))) out of order") }
        if count(.probe) > 0 { parts.append(NumberText.count(count(.probe), "probe")) }
        if count(.outside) > 0 { parts.append("\(NumberText.text(count(.outside))) out of window") }
        if acknowledgments.points.isEmpty, edges.points.isEmpty {
            parts.append("no packets from the receiver in the capture")
        } else {
            parts.append(
                shutCount == 0
                    ? "window never closed"
                    : shutCount == 1 ? "window closed once" : "window closed \(NumberText.text(shutCount)) times")
        }
        return parts.joined(separator: ", ")
    }
}
