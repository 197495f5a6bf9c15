/// What a stream's line ends are like, counted as the bytes pass, so that no stream has to be kept for it.
///
/// A line ends with LF; its content is what stands before it, without one CR at its end. Offsets count delivered bytes.
package struct LineStatistics: Sendable, Hashable {
    package private(set) var crlfCount = 0
    /// LF without a CR before it.
    package private(set) var bareLFCount = 0
    package private(set) var firstBareLF: Int64?
    /// CR without an LF behind it.
    package private(set) var bareCRCount = 0
    package private(set) var firstBareCR: Int64?
    /// Content of the longest finished line.
    package private(set) var longestContent: Int64 = 0
    /// Its number, from 1.
    package private(set) var longestLine = 0
    /// Bytes behind the last LF, a CR at their end among them.
    package private(set) var unfinishedLength: Int64 = 0
    /// The last byte is a CR, of which nobody knows yet whether it is bare.
    package private(set) var endsWithCR = false
    /// Bytes are missing somewhere: counts are of what is there.
    package private(set) var isInterrupted = false
    private var fed: Int64 = 0
    /// The byte before the next one is missing: it may have been a CR.
    private var followsGap = false

    package init() {}

    package var lineCount: Int { crlfCount + bareLFCount }

    package mutating func feed(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0a {
                endLine(at: fed + Int64(index))
            } else {
                if endsWithCR { noteBareCR(at: fed + Int64(index) - 1) }
                endsWithCR = byte == 0x0d
                unfinishedLength += 1
            }
            index += 1
        }
        fed += Int64(bytes.count)
    }

    /// Bytes are missing here.
    package mutating func interrupt() {
        isInterrupted = true
        followsGap = true
        endsWithCR = false
        unfinishedLength = 0
    }

    private mutating func endLine(at offset: Int64) {
        if endsWithCR || (followsGap && unfinishedLength == 0) {
            crlfCount += 1
        } else {
            bareLFCount += 1
            if firstBareLF == nil { firstBareLF = offset }
        }
        let content = unfinishedLength - (endsWithCR ? 1 : 0)
        if content > longestContent || longestLine == 0 {
            longestContent = content
            longestLine = lineCount
        }
        unfinishedLength = 0
        endsWithCR = false
        followsGap = false
    }

    private mutating func noteBareCR(at offset: Int64) {
        bareCRCount += 1
        if firstBareCR == nil { firstBareCR = offset }
    }
}
