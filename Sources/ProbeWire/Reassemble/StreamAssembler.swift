import ProbeBase

/// Puts the bytes of one direction in order.
///
/// If a byte arrives more than once, its first value is used, and a different value in a later segment is counted as a
/// conflict. Bytes that arrive early wait in memory, up to a limit. Offsets have 64 bits and count from the first byte
/// after the SYN.
package struct StreamAssembler: Sendable {
    /// The bytes that one segment added to the stream.
    package struct Addition: Sendable, Hashable {
        /// The number of bytes on the wire, captured or not, that no earlier segment contained.
        package var newLength = 0
        /// The offset of the first new byte. `newEnd` is the offset after the last new byte.
        package var newOffset: Int64 = 0
        package var newEnd: Int64 = 0
        /// Whether a byte arrived again with a different value.
        package var hasConflict = false
    }

    // The properties are ordered for the processor's cache; see `HalfConnection`.

    /// The offset up to which the stream has been processed. Every byte before it was delivered or is in a gap.
    package internal(set) var end: Int64 = 0
    private let sharedLimits: SharedLimits
    package internal(set) var hasWaiting = false
    /// Whether any bytes of the stream were skipped, even if there was no room to list the gap.
    private(set) var hasGaps = false
    package internal(set) var hasReachedLimit = false
    /// Whether any bytes of a gap arrived after the gap had been skipped.
    var hasLateBytes = false
    private var keepsNoMore = false
    package private(set) var lines = LineStatistics()
    var rest = ColdStorage<Rest>()

    /// Data that is needed only for a stream that is kept or does not arrive in order.
    struct Rest: ColdValue {
        var waiting: [Chunk] = []
        var waitingBytes = 0
        /// The number of segments that have arrived since the peer acknowledged the bytes that are missing before the
        /// first chunk.
        var segmentsSinceReceived = 0
        var gaps: [StreamGap] = []
        var bytes: [UInt8] = []
        var deliverableParts: [StreamPart] = []
        var conflictCount = 0
        var firstConflict: Int64?
        var lateLength: Int64 = 0
    }

    // Always inlined, because a call would copy the entire half connection for each packet.
    @inline(__always)
    var limits: ConversationLimits { sharedLimits.value }
    package var deliveredLength: Int64 { lines.byteCount }
    /// The gaps, in order. Adjacent gaps with the same cause are merged into one.
    package var gaps: [StreamGap] { rest.value.gaps }
    /// The delivered bytes from the stream's start, excluding gaps, up to the number that the limits allow.
    package var bytes: [UInt8] { rest.value.bytes }
    package var conflictCount: Int { rest.value.conflictCount }
    package var firstConflict: Int64? { rest.value.firstConflict }
    /// The number of bytes that arrived for a gap after the gap had been skipped. These bytes are not used.
    package var lateLength: Int64 { rest.value.lateLength }
    /// The chunks that wait, sorted and without overlap, all after `end`.
    var waiting: [Chunk] { rest.value.waiting }
    private var waitingBytes: Int { rest.value.waitingBytes }

    struct Chunk: Sendable {
        var start: Int64
        /// The offset after the chunk's last byte on the wire. `bytes` contains fewer bytes if the capture cut the
        /// packet short.
        var end: Int64
        var bytes: [UInt8]
    }

    /// The maximum number of waiting chunks. Each takes at least 64 bytes, so together they take at least 1 MiB.
    private static let maxChunks = 16_384
    private static let maxGaps = 4096
    /// The maximum number of gaps that are listed once the memory for all connections is used up.
    private static let minGaps = 16

    package init(limits: ConversationLimits) {
        sharedLimits = SharedLimits(limits)
    }

    /// The number of bytes that the stream holds in memory.
    @inline(__always)
    var heldBytes: Int {
        rest.value.bytes.count + rest.value.waitingBytes + rest.value.gaps.count * MemoryLayout<StreamGap>.stride
    }

    /// Releases the stream's memory when the memory for all connections is used up. Gaps are skipped, kept bytes are
    /// dropped, and later bytes are not kept.
    mutating func release() {
        hasReachedLimit = true
        keepsNoMore = true
        defer { rest.value.bytes = [] }
        while hasWaiting { skipToWaiting(cause: .limitReached) }
    }

    /// Returns the parts of the stream that have been put in order since the last call, if
    /// `ConversationLimits.deliversParts` is set.
    mutating func takeParts() -> [StreamPart] {
        if rest.value.deliverableParts.isEmpty { return [] }
        defer { rest.value.deliverableParts = [] }
        return rest.value.deliverableParts
    }

    /// The offset of the first waiting byte, which follows a missing part of the stream; `nil` if no bytes are waiting.
    package var firstWaitingOffset: Int64? { waiting.first?.start }

    /// Whether `bytes` contains everything that was delivered.
    package var isKeptWhole: Bool { Int64(bytes.count) == deliveredLength }

    /// Returns the kept bytes of a part of the stream. The result is shorter if the limits or a gap end the kept bytes,
    /// and `nil` if the first byte is not kept.
    package func kept(_ range: Range<Int64>) -> ArraySlice<UInt8>? {
        guard range.lowerBound >= 0, range.lowerBound < end else { return nil }
        guard !gaps.contains(where: { $0.offset <= range.lowerBound && range.lowerBound < $0.end }) else { return nil }
        let shift = gaps.reduce(0) { $0 + ($1.end <= range.lowerBound ? $1.length : 0) }
        let stop = min(range.upperBound, end, gaps.first { $0.offset > range.lowerBound }?.offset ?? end)
        let first = range.lowerBound - shift
        guard first < Int64(bytes.count) else { return nil }
        return bytes[Int(first)..<Int(min(stop - shift, Int64(bytes.count)))]
    }

    /// The kept bytes from the stream's start to the first gap.
    package var firstBytes: ArraySlice<UInt8> {
        bytes.prefix(Int(clamping: gaps.first?.offset ?? Int64.max))
    }

    /// Inserts the payload of a segment. `wireLength` is the payload's length on the wire, which is greater than
    /// `payload.count` if the capture cut the packet short.
    ///
    /// - Parameter received: the offset up to which the peer has acknowledged the stream.
    package mutating func insert(
        _ payload: Span<UInt8>, at offset: Int64, wireLength: Int, received: Int64 = Int64.min
    ) -> Addition {
        if hasWaiting { noteReceived(upTo: received) }
        let stop = offset + Int64(wireLength)
        var addition = Addition()
        if !hasWaiting, offset == end {
            addition.newLength = wireLength
            addition.newOffset = offset
            addition.newEnd = stop
            deliver(payload, wireLength: Int64(wireLength))
            return addition
        }
        if offset < end { compareDelivered(payload, at: offset, into: &addition) }
        guard stop > end else { return addition }
        let start = max(offset, end)
        if !hasWaiting, start == end {
            let skipped = Int(start - offset)
            addition.newLength = wireLength - skipped
            addition.newOffset = start
            addition.newEnd = stop
            deliver(
                payload.extracting(payload.clamping(skipped..<max(skipped, payload.count))), wireLength: stop - start)
            return addition
        }
        wait(payload, at: offset, from: start, to: stop, into: &addition)
        drain()
        while waitingBytes > limits.waitingBytes || waiting.count > Self.maxChunks { giveUpFirst(received) }
        return addition
    }

    /// Ends the stream. Waiting bytes are delivered, and the gaps before them are reported. `lastOffset` is the offset
    /// at which the stream is known to end, from a FIN or from the peer's acknowledgments.
    package mutating func finish(lastOffset: Int64?) {
        while hasWaiting { skipToWaiting(cause: .notCaptured) }
        if let lastOffset, lastOffset > end { skip(to: lastOffset, cause: .notCaptured) }
    }

    /// Records that one more segment has arrived, and that the peer has acknowledged the stream up to `offset`.
    private mutating func noteReceived(upTo offset: Int64) {
        guard case .segments(let most) = limits.gapTolerance, let first = firstWaitingOffset, offset >= first else {
            return
        }
        rest.value.segmentsSinceReceived += 1
        if rest.value.segmentsSinceReceived > most { giveUp(upTo: offset) }
    }

    /// Stops waiting for the bytes missing before `offset`, all of which the peer has acknowledged.
    mutating func giveUp(upTo offset: Int64) {
        while let first = firstWaitingOffset, first <= offset {
            // If a gap is not listed, its late bytes can't be detected, so they are assumed to arrive.
            if gaps.count >= maxListedGaps { hasLateBytes = true }
            skipToWaiting(cause: .notCaptured)
        }
    }

    /// Skips the first gap when the memory for the bytes that wait after it is used up.
    private mutating func giveUpFirst(_ received: Int64) {
        // If a gap is not listed, its late bytes can't be distinguished from repeated bytes.
        if let first = firstWaitingOffset, first <= received, gaps.count < maxListedGaps {
            skipToWaiting(cause: .notCaptured)
        } else {
            hasReachedLimit = true
            skipToWaiting(cause: .limitReached)
        }
    }

    // MARK: Delivery

    /// Appends a completely captured payload at the stream's end. No bytes may be waiting after a gap.
    @inline(__always)
    mutating func append(_ payload: Span<UInt8>) {
        deliver(payload, wireLength: Int64(payload.count))
    }

    private mutating func deliver(_ payload: Span<UInt8>, wireLength: Int64) {
        // Bytes must be kept before they are counted, because `isKeptWhole` compares the numbers of kept and counted
        // bytes.
        if limits.deliversParts || limits.keptBytes > 0, payload.count > 0 { keep(payload) }
        lines.feed(payload, quotes: limits.quotes)
        end += Int64(payload.count)
        let missing = wireLength - Int64(payload.count)
        if missing > 0 { skip(to: end + missing, cause: .cutShort) }
    }

    private mutating func keep(_ payload: Span<UInt8>) {
        if limits.deliversParts { rest.value.deliverableParts.append(StreamPart(offset: end, .bytes(payload.array))) }
        let room = limits.keptBytes - bytes.count
        if room > 0, isKeptWhole, !keepsNoMore, gaps.count < Self.maxGaps {
            rest.value.bytes.append(span: payload.extracting(0..<min(room, payload.count)))
        }
    }

    private mutating func skip(to offset: Int64, cause: StreamGap.Cause) {
        guard offset > end else { return }
        hasGaps = true
        lines.interrupt()
        if limits.deliversParts {
            rest.value.deliverableParts.append(
                StreamPart(offset: end, .gap(StreamGap(offset: end, length: offset - end, cause: cause))))
        }
        if let last = gaps.last, last.end == end, last.cause == cause {
            rest.value.gaps[gaps.count - 1].length += offset - end
        } else if gaps.count < maxListedGaps {
            rest.value.gaps.append(StreamGap(offset: end, length: offset - end, cause: cause))
        }
        end = offset
    }

    private var maxListedGaps: Int { keepsNoMore ? Self.minGaps : Self.maxGaps }

    private mutating func skipToWaiting(cause: StreamGap.Cause) {
        guard let first = waiting.first else { return }
        skip(to: first.start, cause: cause)
        drain()
    }

    private mutating func drain() {
        var taken = 0
        while taken < waiting.count, waiting[taken].start <= end {
            let chunk = waiting[taken]
            rest.value.waitingBytes -= chunk.bytes.count + 64
            deliver(chunk.bytes.span, wireLength: chunk.end - chunk.start)
            taken += 1
        }
        guard taken > 0 else { return }
        rest.value.waiting.removeFirst(taken)
        rest.value.segmentsSinceReceived = 0
        hasWaiting = !waiting.isEmpty
    }
}

/// The handling of bytes that wait after gaps, and of bytes that arrive again with a different value.
extension StreamAssembler {
    // MARK: Waiting

    /// Keeps the parts of the range from `start` up to `stop` that no waiting chunk contains. `payload` begins at
    /// `offset`.
    mutating func wait(
        _ payload: Span<UInt8>, at offset: Int64, from start: Int64, to stop: Int64, into addition: inout Addition
    ) {
        var position = start
        var index = firstChunk(endingBehind: start)
        while position < stop {
            if index < waiting.count, waiting[index].start <= position {
                compareWaiting(waiting[index], payload, at: offset, into: &addition)
                position = max(position, waiting[index].end)
                index += 1
                continue
            }
            let next = index < waiting.count ? min(stop, waiting[index].start) : stop
            if addition.newLength == 0 { addition.newOffset = position }
            addition.newLength += Int(next - position)
            addition.newEnd = next
            let captured = payload.clamping(Int(position - offset)..<Int(next - offset))
            if index > 0, waiting[index - 1].end == position,
                Int64(waiting[index - 1].bytes.count) == position - waiting[index - 1].start
            {
                rest.value.waiting[index - 1].bytes.append(span: payload.extracting(captured))
                rest.value.waiting[index - 1].end = next
                rest.value.waitingBytes += captured.count
            } else {
                let chunk = Chunk(start: position, end: next, bytes: payload.extracting(captured).array)
                rest.value.waiting.insert(chunk, at: index)
                hasWaiting = true
                rest.value.waitingBytes += captured.count + 64
                index += 1
            }
            position = next
        }
    }

    private func firstChunk(endingBehind offset: Int64) -> Int {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Conflicts

    private mutating func compareWaiting(
        _ chunk: Chunk, _ payload: Span<UInt8>, at offset: Int64, into addition: inout Addition
    ) {
        let from = max(chunk.start, offset)
        let to = min(chunk.start + Int64(chunk.bytes.count), offset + Int64(payload.count))
        guard from < to else { return }
        for position in from..<to
        where chunk.bytes[Int(position - chunk.start)] != payload[Int(position - offset)] {
            note(conflictAt: position, in: &addition)
            return
        }
    }

    mutating func compareDelivered(
        _ payload: Span<UInt8>, at offset: Int64, into addition: inout Addition
    ) {
        var position = max(offset, 0)
        let stop = min(end, offset + Int64(payload.count))
        guard position < stop else { return }
        let gaps = rest.value.gaps
        // The gaps are traversed only once, because a segment may span thousands of them.
        var index = firstGap(endingBehind: position)
        var shift = gaps[..<index].reduce(0) { $0 + $1.length }
        while position < stop {
            if index < gaps.count, gaps[index].offset <= position {
                rest.value.lateLength += min(stop, gaps[index].end) - position
                noteLate(forGapAt: index)
                position = gaps[index].end
                shift += gaps[index].length
                index += 1
                continue
            }
            let until = min(stop, index < gaps.count ? gaps[index].offset : stop)
            while position < until, position - shift < Int64(rest.value.bytes.count) {
                if rest.value.bytes[Int(position - shift)] != payload[Int(position - offset)] {
                    note(conflictAt: position, in: &addition)
                    return
                }
                position += 1
            }
            position = until
        }
    }

    /// Records that bytes of a gap have arrived after the gap was skipped. With `GapTolerance.memory`, this can happen
    /// only if the memory was too small.
    private mutating func noteLate(forGapAt index: Int) {
        guard rest.value.gaps[index].cause != .cutShort else { return }
        hasLateBytes = true
        guard limits.gapTolerance == .memory else { return }
        hasReachedLimit = true
        rest.value.gaps[index].cause = .limitReached
    }

    private func firstGap(endingBehind offset: Int64) -> Int {
        var low = 0
        var high = rest.value.gaps.count
        while low < high {
            let middle = (low + high) / 2
            if rest.value.gaps[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func note(conflictAt offset: Int64, in addition: inout Addition) {
        guard !addition.hasConflict else { return }
        addition.hasConflict = true
        rest.value.conflictCount += 1
        if firstConflict == nil { rest.value.firstConflict = offset }
    }
}
