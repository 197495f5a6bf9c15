import ProbeBase

/// One file: its path, as given by the user, and its contents.
package struct SourceFile: Sendable {
    package let path: String
    package let bytes: [UInt8]
    /// The offset of the first byte of each line.
    private let lineStarts: [Int]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var starts = [0]
        while let lineFeed = bytes.span.firstIndex(of: 0x0A, from: starts[starts.count - 1]) {
            starts.append(lineFeed + 1)
        }
        lineStarts = starts
    }

    /// The number of lines. The last line is counted even if it has no line feed, but the empty text after a final line
    /// feed is not counted as a line.
    package var lineCount: Int {
        lineStarts.count > 1 && lineStarts[lineStarts.count - 1] == bytes.count
            ? lineStarts.count - 1 : lineStarts.count
    }

    /// Returns the line and the column of a byte, both numbered from 1. An offset outside the file is moved to the
    /// nearest offset inside it. Takes time logarithmic in the number of lines, and linear in the column.
    package func lineAndColumn(at offset: Int) -> (line: Int, column: Int) {
        let offset = min(max(0, offset), bytes.count)
        let index = lineIndex(at: offset)
        var column = 1
        var position = lineStarts[index]
        if index == 0, hasByteOrderMark { position = min(3, offset) }
        while position < offset {
            // A continuation byte belongs to the character before it.
            if bytes[position] & 0xC0 != 0x80 { column += 1 }
            position += 1
        }
        return (index + 1, column)
    }

    /// Returns the range of a line in bytes, without the line end. Lines are numbered from 1.
    package func range(ofLine line: Int) -> Range<Int> {
        guard line >= 1, line <= lineStarts.count else { return bytes.count..<bytes.count }
        var start = lineStarts[line - 1]
        if line == 1, hasByteOrderMark { start = 3 }
        var end = line < lineStarts.count ? lineStarts[line] - 1 : bytes.count
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        return start..<max(start, end)
    }

    private var hasByteOrderMark: Bool {
        bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
    }

    private func lineIndex(at offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }
}
