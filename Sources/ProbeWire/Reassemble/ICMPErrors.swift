package import ProbeBase

/// The ICMP errors about segments of flows.
package struct ICMPErrors: Sendable {
    package struct Report: Sendable, Hashable {
        package var error: ICMPError
        /// The sender of the segment that the error refers to.
        package var side: ConversationSide
        /// The position of the segment in its sender's stream, as in `PacketSummary.relativeSequence`; `nil` if the
        /// sender's sequence numbers are unknown.
        package var relativeSequence: Int64?
        package var time: UInt64
        package var packetIndex: Int

        /// A description of the error: `destination unreachable (port), from 10.0.0.9`.
        package var text: String { "\(error.text), from \(error.reporter)" }
    }

    /// The number of ICMP errors about each flow, by flow number.
    private var counts: [Int: Int] = [:]
    private var last: (conversation: Int, report: Report)?

    init() {}

    package func count(of conversation: Int) -> Int { counts[conversation] ?? 0 }

    /// The flows about which there were ICMP errors, and the number of errors about each flow.
    package var conversations: [(number: Int, count: Int)] { counts.map { (number: $0.key, count: $0.value) } }

    /// Returns the ICMP error in the last packet, unless there is none or it has already been returned. This function
    /// is for callers that show packets as they are read.
    package mutating func takeLast() -> (conversation: Int, report: Report)? {
        defer { last = nil }
        return last
    }

    mutating func add(
        _ error: ICMPError, to position: Int, of conversations: ConversationList, time: UInt64, index: Int
    ) {
        counts[position, default: 0] += 1
        let opening = conversations.opening(at: position, from: error.source).sender
        let side: ConversationSide = conversations.endpoints(at: position).client == error.source ? .client : .server
        last = (
            position,
            Report(
                error: error, side: side,
                relativeSequence: opening.base.map { Int64(error.sequence - $0) + 1 }, time: time, packetIndex: index)
        )
    }

    mutating func merge(_ other: ICMPErrors, _ numbers: (own: [Int], other: [Int])) {
        var merged: [Int: Int] = [:]
        for (old, count) in counts { merged[numbers.own[old], default: 0] += count }
        for (old, count) in other.counts { merged[numbers.other[old], default: 0] += count }
        counts = merged
    }
}
