import ProbeBase

/// Reassembles IP datagrams from their fragments (RFC 791, section 3.2; RFC 8200, section 4.5).
///
/// If fragments overlap, the bytes that arrived first are used. An incomplete datagram is discarded after `lifetime`
/// more fragments have arrived. If incomplete datagrams take more than `memory` bytes, the oldest is discarded.
/// Timestamps are ignored, because they may be wrong in a capture.
package struct FragmentReassembler: Sendable {
    /// A complete datagram: the captured part of its payload after the IP header, and the payload's length on the wire.
    package struct Datagram: Sendable {
        package var header: IPFragment
        package var bytes: [UInt8]
        package var length: Int
    }

    private struct Key: Hashable {
        var source: IPAddress
        var destination: IPAddress
        var identification: UInt32
        var protocolNumber: UInt8
    }

    private struct Part {
        var start: Int
        var end: Int
        var bytes: [UInt8]
    }

    private struct Pending {
        var parts: [Part] = []
        var total: Int?
        var order: UInt64
        var size = 0
        /// The number of fragments that have been added.
        var count = 0
    }

    private var pending: [Key: Pending] = [:]
    /// The incomplete datagrams, oldest first. An element is outdated if its order differs from that of its entry in
    /// `pending`.
    private var queue: [(key: Key, order: UInt64)] = []
    private var queueHead = 0
    private var held = 0
    private var order: UInt64 = 0
    private let memory: Int
    /// The lifetime of an incomplete datagram, as a number of fragments. The lifetime is much lower than the number of
    /// datagrams after which a 16-bit identification is reused.
    private static let lifetime: UInt64 = 16_384
    /// The length of the longest IP payload. Together with `maxParts`, this limit bounds the lists of fragments, even
    /// if the fragments are tiny.
    private static let longestDatagram = 65_535
    private static let maxParts = 2_048
    /// The number of fragments of incomplete datagrams that may contain a TCP segment.
    private var unjoined = 0
    /// The number of incomplete datagrams that were discarded.
    package private(set) var lostCount = 0

    package init(memory: Int = 4 << 20) {
        self.memory = memory
    }

    /// Adds a fragment. Returns the datagram if the fragment completes it.
    package mutating func add(_ fragment: IPFragment, payload: Span<UInt8>) -> Datagram? {
        let end = fragment.offset + fragment.payloadLength
        // The protocols are TCP, IP in IP (for IPv4 and IPv6) and GRE.
        let mayHoldTCP = [6, 4, 41, 47].contains(fragment.protocolNumber)
        if mayHoldTCP { unjoined += 1 }
        guard fragment.payloadLength > 0, end <= Self.longestDatagram else { return nil }
        let key = Key(
            source: fragment.source, destination: fragment.destination, identification: fragment.identification,
            protocolNumber: fragment.protocolNumber)
        order += 1
        var entry = pending.removeValue(forKey: key) ?? Pending(order: order)
        held -= entry.size
        if order - entry.order > Self.lifetime {
            lostCount += 1
            entry = Pending(order: order)
        }
        let isNew = entry.order == order
        insert(fragment.offset..<end, payload, into: &entry)
        if !fragment.hasMore, entry.total == nil { entry.total = end }
        if mayHoldTCP { entry.count += 1 }
        if let whole = joined(entry, fragment) {
            unjoined -= entry.count
            return whole
        }
        guard entry.parts.count <= Self.maxParts else {
            lostCount += 1
            return nil
        }
        held += entry.size
        pending[key] = entry
        if isNew { queue.append((key, order)) }
        evict()
        return nil
    }

    /// Returns the number of fragments added since the last call that belong to incomplete datagrams and may contain a
    /// TCP segment.
    mutating func takeIncompleteFragmentCount() -> Int {
        defer { unjoined = 0 }
        return unjoined
    }

    private func insert(_ range: Range<Int>, _ payload: Span<UInt8>, into entry: inout Pending) {
        var position = range.lowerBound
        var index = 0
        while position < range.upperBound {
            while index < entry.parts.count, entry.parts[index].end <= position { index += 1 }
            if index < entry.parts.count, entry.parts[index].start <= position {
                position = entry.parts[index].end
                continue
            }
            let next = index < entry.parts.count ? min(range.upperBound, entry.parts[index].start) : range.upperBound
            let captured = payload.clamping(position - range.lowerBound..<next - range.lowerBound)
            entry.parts.insert(Part(start: position, end: next, bytes: payload.extracting(captured).array), at: index)
            entry.size += captured.count + 64
            position = next
        }
    }

    private func joined(_ entry: Pending, _ fragment: IPFragment) -> Datagram? {
        guard let total = entry.total, entry.parts.first?.start == 0 else { return nil }
        var end = 0
        for part in entry.parts {
            guard part.start == end else { return nil }
            end = part.end
        }
        guard end >= total else { return nil }
        var bytes: [UInt8] = []
        for part in entry.parts {
            bytes.append(contentsOf: part.bytes)
            if part.bytes.count < part.end - part.start { break }  // cut short by the snap length
        }
        return Datagram(header: fragment, bytes: Array(bytes.prefix(total)), length: total)
    }

    private mutating func evict() {
        while held > memory, queueHead < queue.count {
            let oldest = queue[queueHead]
            queueHead += 1
            guard pending[oldest.key]?.order == oldest.order, let entry = pending.removeValue(forKey: oldest.key) else {
                continue
            }
            held -= entry.size
            lostCount += 1
        }
        // The elements of completed datagrams remain in the queue, so they must be skipped.
        while queueHead < queue.count, pending[queue[queueHead].key]?.order != queue[queueHead].order { queueHead += 1 }
        if queueHead > 64, queueHead * 2 > queue.count {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
    }
}
