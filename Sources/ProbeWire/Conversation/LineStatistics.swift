/// What a stream's line ends are like, counted as the bytes pass, so that no stream has to be kept for it.
///
/// A line ends with LF; its content is what stands before it, without one CR at its end. Offsets count delivered bytes.
package struct LineStatistics: Sendable {
    package private(set) var crlfCount = 0
    /// Bytes behind the last LF, a CR at their end among them.
    package private(set) var unfinishedLength: Int64 = 0
    private var fed: Int64 = 0
    /// Content of the longest finished line.
    package private(set) var longestContent: Int64 = 0
    /// Its number, from 1.
    package private(set) var longestLine = 0
    /// The last byte is a CR, of which nobody knows yet whether it is bare.
    package private(set) var endsWithCR = false
    /// The byte before the next one is missing: it may have been a CR.
    private var followsGap = false
    /// Bytes are missing somewhere: counts are of what is there.
    package private(set) var isInterrupted = false
    private var bare = Seldom<Bare>()

    /// LF without a CR before it.
    package var bareLFCount: Int { bare.value.countLF }
    package var firstBareLF: Int64? { bare.value.firstLF }
    /// CR without an LF behind it.
    package var bareCRCount: Int { bare.value.countCR }
    package var firstBareCR: Int64? { bare.value.firstCR }

    private struct Bare: SeldomValue {
        static let untouched = [Bare()]

        var countLF = 0
        var firstLF: Int64?
        var countCR = 0
        var firstCR: Int64?
    }

    package init() {}

    package var lineCount: Int { crlfCount + bareLFCount }

    package mutating func feed(_ bytes: Span<UInt8>) {
        guard bytes.count > 0 else { return }
        if endsWithCR, bytes[0] != 0x0a { noteBareCR(at: fed - 1) }
        var start = 0
        while start < bytes.count, let hit = bytes.firstLineEnd(from: start) {
            unfinishedLength += Int64(hit - start)
            start = hit + 1
            if bytes[hit] == 0x0a {
                let isCRLF = (hit == 0 && endsWithCR) || (followsGap && unfinishedLength == 0)
                endLine(
                    at: fed + Int64(hit), isCRLF: isCRLF, content: unfinishedLength - (endsWithCR && hit == 0 ? 1 : 0))
            } else if start < bytes.count, bytes[start] == 0x0a {
                endLine(at: fed + Int64(start), isCRLF: true, content: unfinishedLength)
                start += 1
            } else {
                unfinishedLength += 1
                if start < bytes.count { noteBareCR(at: fed + Int64(hit)) }
            }
        }
        endsWithCR = bytes[bytes.count - 1] == 0x0d
        unfinishedLength += Int64(bytes.count - start)
        fed += Int64(bytes.count)
    }

    /// Bytes are missing here.
    package mutating func interrupt() {
        isInterrupted = true
        followsGap = true
        endsWithCR = false
        unfinishedLength = 0
    }

    private mutating func endLine(at offset: Int64, isCRLF: Bool, content: Int64) {
        if isCRLF {
            crlfCount += 1
        } else {
            bare.value.countLF += 1
            if bare.value.firstLF == nil { bare.value.firstLF = offset }
        }
        if content > longestContent || longestLine == 0 {
            longestContent = content
            longestLine = lineCount
        }
        unfinishedLength = 0
        followsGap = false
    }

    private mutating func noteBareCR(at offset: Int64) {
        bare.value.countCR += 1
        if bare.value.firstCR == nil { bare.value.firstCR = offset }
    }
}
