package import ProbeBase
import Glibc

/// The bytes that have arrived on a connection and that no expectation has consumed, with the time at which each was
/// read.
///
/// The buffer is a value: the connection appends bytes, and the engine reads and consumes them.
package struct ReceiveBuffer: Sendable {
    private struct Mark: Sendable {
        /// The position in the stream after the last byte of the chunk.
        var end: Int
        var time: MonotonicTime
    }

    private var storage: [UInt8] = []
    private var head = 0
    private var marks: [Mark] = []
    private var firstMark = 0
    /// The number of bytes of the stream that have been consumed.
    package private(set) var consumed = 0

    /// The bytes received since the last `takeArrivals()`, even if they have been consumed; `nil` if received bytes are
    /// not recorded.
    private var arrivals: [Arrival]?

    package init() {}

    /// Bytes received in one read.
    package struct Arrival: Sendable, Equatable {
        package var bytes: [UInt8]
        package var time: MonotonicTime

        package init(bytes: [UInt8], time: MonotonicTime) {
            self.bytes = bytes
            self.time = time
        }
    }

    /// Starts recording received bytes, beginning with the currently unread ones, for ``takeArrivals()``.
    ///
    /// - Returns: whether recording was off before.
    package mutating func keepArrivals() -> Bool {
        guard arrivals == nil else { return false }
        var kept: [Arrival] = []
        var start = consumed
        for mark in marks[firstMark...] where mark.end > start {
            kept.append(Arrival(bytes: bytes((start - consumed)..<(mark.end - consumed)), time: mark.time))
            start = mark.end
        }
        arrivals = kept
        return true
    }

    package mutating func takeArrivals() -> [Arrival] {
        guard let taken = arrivals else { return [] }
        arrivals = []
        return taken
    }

    package var count: Int { storage.count - head }
    package var isEmpty: Bool { count == 0 }
    /// The total number of bytes that have arrived.
    package var received: Int { consumed + count }

    package mutating func append(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime) {
        if bytes.isEmpty { return }
        storage.append(contentsOf: bytes)
        marks.append(Mark(end: received, time: time))
        arrivals?.append(Arrival(bytes: Array(bytes), time: time))
    }

    package mutating func append(_ bytes: [UInt8], at time: MonotonicTime) {
        bytes.withUnsafeBytes { append($0, at: time) }
    }

    /// The bytes that have arrived but have not been consumed. Indices start at `startIndex`.
    package var unread: ArraySlice<UInt8> { storage[head...] }

    /// The unread byte at `offset`, where 0 is the next byte.
    package subscript(offset: Int) -> UInt8 { storage[head + offset] }

    package func bytes(_ range: Range<Int>) -> [UInt8] {
        Array(storage[(head + range.lowerBound)..<(head + range.upperBound)])
    }

    /// Returns the offset of the first unread byte that differs from `expected`; `nil` if there is no difference. Bytes
    /// beyond the end of the shorter sequence are not compared.
    ///
    /// - Parameter start: the number of leading bytes that are known to be equal.
    package func firstDifference(from expected: [UInt8], startingAt start: Int = 0) -> Int? {
        let common = min(expected.count, count) - start
        return storage.withUnsafeBytes { storage in
            expected.withUnsafeBytes { expected in
                guard common > 0, let expected = expected.baseAddress,
                    let unread = storage.baseAddress.map({ $0 + head }),
                    memcmp(unread + start, expected + start, common) != 0
                else { return nil }
                return (start..<(start + common)).first {
                    unread.load(fromByteOffset: $0, as: UInt8.self) != expected.load(fromByteOffset: $0, as: UInt8.self)
                }
            }
        }
    }

    /// Returns a read-only copy that ends before the unread byte at `offset`.
    package func prefix(_ offset: Int) -> ReceiveBuffer {
        guard offset < count else { return self }
        var copy = self
        copy.storage.removeLast(count - offset)
        while copy.marks.count > firstMark + 1, copy.marks[copy.marks.count - 2].end >= copy.received {
            copy.marks.removeLast()
        }
        if !copy.marks.isEmpty { copy.marks[copy.marks.count - 1].end = copy.received }
        return copy
    }

    /// Returns the time at which the unread byte at `offset` was read.
    package func arrival(of offset: Int) -> MonotonicTime? {
        let position = consumed + offset
        var low = firstMark
        var high = marks.count
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].end > position { high = middle } else { low = middle + 1 }
        }
        return low < marks.count ? marks[low].time : nil
    }

    /// Returns the offset of the first occurrence of `needle` at or after `offset`; `nil` if `needle` has not arrived.
    package func firstIndex(of needle: [UInt8], from offset: Int = 0) -> Int? {
        guard let first = needle.first else { return offset }
        return storage.withUnsafeBytes { storage in
            needle.withUnsafeBytes { needle in
                guard let base = storage.baseAddress, let wanted = needle.baseAddress else { return nil }
                var position = head + offset
                while position + needle.count <= storage.count {
                    let starts = storage.count - needle.count - position + 1
                    guard let found = memchr(base + position, Int32(first), starts) else { return nil }
                    position = UnsafeRawPointer(found) - base
                    if memcmp(found, wanted, needle.count) == 0 { return position - head }
                    position += 1
                }
                return nil
            }
        }
    }

    /// Consumes the next `count` bytes, which must have arrived.
    @discardableResult
    package mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(storage[head..<(head + count)])
        drop(count)
        return taken
    }

    /// Removes ranges of unread bytes in one pass. The ranges are offsets in ascending order.
    package mutating func remove(_ ranges: [Range<Int>]) {
        guard let first = ranges.first else { return }
        let removed = ranges.reduce(0) { $0 + $1.count }
        var rest: [UInt8] = []
        rest.reserveCapacity(count - first.lowerBound - removed)
        for (number, range) in ranges.enumerated() {
            let next = number + 1 < ranges.count ? ranges[number + 1].lowerBound : count
            rest += storage[(head + range.upperBound)..<(head + next)]
        }
        storage.replaceSubrange((head + first.lowerBound)..., with: rest)
        // `consumed` increases by the number of removed bytes. The positions of the bytes before a removed range
        // therefore also increase, so that each byte keeps its arrival time.
        var (gap, before) = (0, 0)
        for index in firstMark..<marks.count {
            let end = marks[index].end - consumed
            while gap < ranges.count, ranges[gap].upperBound <= end {
                before += ranges[gap].count
                gap += 1
            }
            let inside = gap < ranges.count ? max(0, end - ranges[gap].lowerBound) : 0
            marks[index].end += removed - before - inside
        }
        consumed += removed
        noteEdit(at: first.lowerBound)
    }

    // MARK: Edits

    /// The number of edits (removals and consumptions) so far. A result about the unread bytes may be invalid after a
    /// further edit.
    package private(set) var edits = 0
    /// Recent edits, each with the lowest offset that this edit or a later one has changed. The edits and the offsets
    /// are in ascending order.
    private var touched: [(edit: Int, offset: Int)] = []

    /// Returns the lowest offset at which bytes have been removed since the given edit; `nil` if no bytes have been
    /// removed.
    package func lowestEdit(since edit: Int) -> Int? {
        edit == edits ? nil : touched.first { $0.edit > edit }?.offset
    }

    private mutating func noteEdit(at offset: Int) {
        edits += 1
        while let last = touched.last, last.offset >= offset { touched.removeLast() }
        touched.append((edits, offset))
        // For an edit that is older than the recorded edits, all bytes are considered changed.
        if touched.count > 64 { touched = [(edits, 0)] }
    }

    package mutating func drop(_ count: Int) {
        if count > 0 { noteEdit(at: 0) }
        head += count
        consumed += count
        while firstMark < marks.count && marks[firstMark].end <= consumed { firstMark += 1 }
        // The storage is compacted when more than half of it is consumed, so each byte moves at most once on average.
        if head > 4096 && head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        if firstMark > 256 && firstMark * 2 > marks.count {
            marks.removeFirst(firstMark)
            firstMark = 0
        }
    }
}
