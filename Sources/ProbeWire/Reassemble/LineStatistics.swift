import CBytes
import ProbeBase

/// Statistics about a stream's line ends. They are computed as the bytes arrive, so that the stream need not be kept.
///
/// A line ends with LF. Its content is everything before the LF, excluding a CR just before the LF. Offsets count
/// delivered bytes.
package struct LineStatistics: Sendable {
    // The properties are ordered for the processor's cache; see `HalfConnection`.

    package private(set) var crlfCount = 0
    /// The number of bytes after the last LF, including a CR at the end.
    package private(set) var unfinishedLength: Int64 = 0
    /// The number of bytes that have been passed to `feed`.
    package private(set) var byteCount: Int64 = 0
    /// The length of the longest finished line, excluding its line end.
    package private(set) var longestContent: Int64 = 0
    /// The number of the longest finished line, counting from 1.
    package private(set) var longestLine = 0
    /// Whether the last byte is a CR. The next byte decides whether the CR is bare.
    package private(set) var endsWithCR = false
    /// Whether the byte before the next byte is missing and may have been a CR.
    private var followsGap = false
    /// Whether bytes of the stream are missing. If so, the counts cover only what was captured.
    package private(set) var isInterrupted = false
    /// Whether the stream contains a bare LF or CR.
    private(set) var hasBare = false
    private var bare = ColdStorage<Bare>()

    /// The number of LFs without a CR before them.
    package var bareLFCount: Int { bare.value.countLF }
    package var firstBareLF: Int64? { bare.value.firstLF }
    /// The number of CRs without an LF after them.
    package var bareCRCount: Int { bare.value.countCR }
    package var firstBareCR: Int64? { bare.value.firstCR }

    /// The bytes around the first bare LF or CR, limited to its segment; for use in messages.
    package var bareExcerpt: [UInt8] { bare.value.excerpt }
    /// The beginning of the unfinished line, if `feed` was called with `quotes`; for use in messages.
    package var unfinishedHead: [UInt8] { unfinishedLength > 0 ? quote.value.head : [] }
    private var quote = ColdStorage<Quote>()

    private struct Bare: ColdValue {
        var countLF = 0
        var firstLF: Int64?
        var countCR = 0
        var firstCR: Int64?
        var excerpt: [UInt8] = []
    }

    private struct Quote: ColdValue {
        static let untouched = [Quote()]
        static let length = 64

        var head: [UInt8] = []
    }

    package init() {}

    package var lineCount: Int { crlfCount + bareLFCount }

    /// Counts the next bytes.
    ///
    /// - Parameter quotes: whether to keep the beginning of an unfinished line.
    package mutating func feed(_ bytes: Span<UInt8>, quotes: Bool = false) {
        guard bytes.count > 0 else { return }
        // The index at which the current line begins; negative if the line began in an earlier segment.
        var start = -Int(truncatingIfNeeded: unfinishedLength)
        var carried: UInt64 = endsWithCR ? 1 : 0
        bytes.forEachLineEnds { position, isLF, isCR in
            let followsCR = isCR &<< 1 | carried
            carried = isCR &>> 63
            // Each bit stands for a byte that ends a line, or that shows that the CR before it is bare, or both.
            var ends = isLF | followsCR
            while ends != 0 {
                let bit = ends & (0 &- ends)
                let hit = position &+ ends.trailingZeroBitCount
                ends ^= bit
                if isLF & followsCR & bit != 0 {
                    endLine(at: hit, isCRLF: true, content: hit &- start &- 1, in: bytes)
                    start = hit &+ 1
                } else if isLF & bit != 0 {
                    endLine(at: hit, isCRLF: followsGap && start == hit, content: hit &- start, in: bytes)
                    start = hit &+ 1
                } else if hit < bytes.count {
                    // If a CR is the last byte, the byte after it has not arrived yet.
                    noteBareCR(at: hit &- 1, in: bytes)
                }
            }
        }
        endsWithCR = bytes[bytes.count &- 1] == 0x0d
        unfinishedLength = Int64(bytes.count &- start)
        if quotes, unfinishedLength > 0 { keepHead(bytes, from: start) }
        byteCount += Int64(bytes.count)
    }

    /// Keeps the beginning of the unfinished line.
    ///
    /// - Parameter start: the index at which the line begins; negative if the line's first bytes have already been
    ///   kept.
    private mutating func keepHead(_ bytes: Span<UInt8>, from start: Int) {
        if start >= 0 {
            quote.value.head = bytes.extracting(bytes.clamping(start..<start + Quote.length)).array
        } else if quote.value.head.count < Quote.length {
            let room = Quote.length - quote.value.head.count
            quote.value.head.append(span: bytes.extracting(bytes.clamping(0..<room)))
        }
    }

    /// Records that bytes are missing before the next byte.
    package mutating func interrupt() {
        isInterrupted = true
        followsGap = true
        endsWithCR = false
        unfinishedLength = 0
    }

    @inline(__always)
    private mutating func endLine(at index: Int, isCRLF: Bool, content: Int, in bytes: Span<UInt8>) {
        if isCRLF { crlfCount &+= 1 } else { noteBareLF(at: index, in: bytes) }
        if Int64(content) > longestContent || longestLine == 0 {
            longestContent = Int64(content)
            longestLine = lineCount
        }
        followsGap = false
    }

    // MARK: Rare cases, never inlined, because the loop would otherwise first copy each stream's `bare`

    @inline(never)
    private mutating func noteBareLF(at index: Int, in bytes: Span<UInt8>) {
        hasBare = true
        bare.value.countLF += 1
        noteFirst(at: index, in: bytes)
        if bare.value.firstLF == nil { bare.value.firstLF = byteCount + Int64(index) }
    }

    /// Counts a bare CR.
    ///
    /// - Parameter index: the index of the CR in `bytes`; -1 for the last byte before `bytes`.
    @inline(never)
    private mutating func noteBareCR(at index: Int, in bytes: Span<UInt8>) {
        hasBare = true
        bare.value.countCR += 1
        noteFirst(at: index, in: bytes)
        if bare.value.firstCR == nil { bare.value.firstCR = byteCount + Int64(index) }
    }

    private mutating func noteFirst(at index: Int, in bytes: Span<UInt8>) {
        guard bare.value.excerpt.isEmpty else { return }
        bare.value.excerpt = index < 0 ? [0x0d] : []
        bare.value.excerpt.append(span: bytes.extracting(bytes.clamping(index - 24..<index + 9)))
    }
}

extension Span where Element == UInt8 {
    /// Finds LFs and CRs, 64 bytes at a time. `body` receives the index of the first of the 64 bytes, and two bit
    /// masks. The lowest bit of a mask stands for the first byte.
    @inline(__always)
    func forEachLineEnds(_ body: (Int, _ isLF: UInt64, _ isCR: UInt64) -> Void) {
        // A piece of this length and its bit masks fit into the processor's first-level cache.
        let pieceLength = 4096
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * pieceLength / 64) { words in
            var first = 0
            while first < count {
                let piece = extracting(first..<Swift.min(first &+ pieceLength, count))
                piece.withUnsafeBufferPointer { bytes in
                    probe_line_ends(bytes.baseAddress, bytes.count, words.baseAddress)
                }
                var block = 0
                while block &* 64 < piece.count {
                    body(first &+ block &* 64, words[2 &* block], words[2 &* block &+ 1])
                    block &+= 1
                }
                first &+= pieceLength
            }
        }
    }
}
