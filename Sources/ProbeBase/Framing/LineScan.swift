/// Counts the lines of a stream without keeping them: their number, the longest one, and CRs and LFs that are not a
/// terminator.
///
/// Bytes are appended as they arrive. Each is read once, eight at a time. The result does not depend on how the stream
/// was divided into pieces.
package struct LineScan: Sendable, Equatable {
    /// The framing: `crlf`, `lf`, `cr` or `nul`; with any other framing no byte ends a line.
    package let framing: Framing
    /// The number of bytes so far.
    package private(set) var count = 0
    /// The number of lines that have ended.
    package private(set) var lineCount = 0
    /// The content of the longest line that has ended (the first, if several are equal), without its terminator; `nil`
    /// if no line has ended.
    package private(set) var longestLine: Range<Int>?
    /// The bare CRs and LFs, with `crlf` only. A CR as the last byte counts after `finish()`.
    package private(set) var bareTerminators = BareTerminators()

    private var lineStart = 0
    private var isCarriageReturnPending = false

    package init(framing: Framing = .crlf) {
        self.framing = framing
    }

    /// The content after the last terminator; may be empty.
    package var unfinishedLine: Range<Int> { lineStart..<count }

    /// The length of the longest content, including the unfinished line.
    package var longestLength: Int { max(longestLine?.count ?? 0, unfinishedLine.count) }

    /// Appends the bytes that have arrived.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        switch framing {
        case .crlf: scanLines(bytes)
        case .lf: scanUnits(bytes, endingIn: 0x0A)
        case .cr: scanUnits(bytes, endingIn: 0x0D)
        case .nul: scanUnits(bytes, endingIn: 0x00)
        case .delimiter, .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none: break
        }
        count += bytes.count
    }

    /// Appends the bytes that have arrived.
    package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    /// Marks the end of the stream.
    package mutating func finish() {
        guard isCarriageReturnPending else { return }
        isCarriageReturnPending = false
        bareTerminators.carriageReturns.record(count - 1)
    }

    private mutating func scanLines(_ bytes: borrowing Span<UInt8>) {
        guard bytes.count > 0 else { return }
        var start = 0
        if isCarriageReturnPending {
            isCarriageReturnPending = false
            if bytes[0] == 0x0A {
                endLine(content: count - 1, next: count + 1)
                start = 1
            } else {
                bareTerminators.carriageReturns.record(count - 1)
            }
        }
        while let index = bytes.firstIndex(of: 0x0D, or: 0x0A, from: start) {
            start = index + 1
            if bytes[index] == 0x0A {
                bareTerminators.lineFeeds.record(count + index)
            } else if start == bytes.count {
                isCarriageReturnPending = true
            } else if bytes[start] == 0x0A {
                start += 1
                endLine(content: count + index, next: count + start)
            } else {
                bareTerminators.carriageReturns.record(count + index)
            }
        }
    }

    private mutating func scanUnits(_ bytes: borrowing Span<UInt8>, endingIn terminator: UInt8) {
        var start = 0
        while let index = bytes.firstIndex(of: terminator, from: start) {
            start = index + 1
            endLine(content: count + index, next: count + start)
        }
    }

    private mutating func endLine(content end: Int, next: Int) {
        if longestLine.map({ end - lineStart > $0.count }) ?? true { longestLine = lineStart..<end }
        lineCount += 1
        lineStart = next
    }
}
