import ProbeBase

/// The units in which the protocol counts columns.
enum PositionEncoding: String, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"

    /// Returns the number of units in a character.
    ///
    /// - Parameter bytes: the number of bytes in the character.
    func units(ofCharacterOf bytes: Int) -> Int {
        switch self {
        case .utf8: bytes
        case .utf16: bytes == 4 ? 2 : 1
        }
    }
}

/// A position in a document in the protocol's format: a line and a column, both counted from 0.
struct TextPosition: Equatable, Sendable {
    var line: Int
    /// The column, in units of the position encoding.
    var character: Int

    init(line: Int, character: Int) {
        self.line = line
        self.character = character
    }
}

/// The text of a document, divided into lines. Lines end with LF, CRLF or CR, as the protocol specifies, although only
/// LF ends a line in a script.
///
/// Positions outside the text are replaced with the nearest position inside it. Never traps.
struct DocumentText: Sendable {
    private(set) var bytes: [UInt8]
    /// The offset of the first byte of each line.
    private var lineStarts: [Int]

    /// Creates a document.
    ///
    /// - Parameter bytes: the text, in UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lineStarts = Self.lineStarts(of: bytes)
    }

    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        for (index, byte) in bytes.enumerated() where byte == 0x0A || byte == 0x0D {
            if byte == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A { continue }
            starts.append(index + 1)
        }
        return starts
    }

    var lineCount: Int { lineStarts.count }

    /// Returns the offset at which a line begins; the end of the text for a line number after the last line.
    func start(ofLine line: Int) -> Int {
        if line < 0 { return 0 }
        return line < lineStarts.count ? lineStarts[line] : bytes.count
    }

    /// Returns the bytes of a line, excluding its line end.
    func range(ofLine line: Int) -> Range<Int> {
        let start = start(ofLine: line)
        var end = self.start(ofLine: line + 1)
        while end > start, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D { end -= 1 }
        return start..<end
    }

    /// Returns the offset of a position. A column inside a character is treated as the start of the character, and a
    /// column beyond the end of the line is treated as the end of the line.
    func offset(of position: TextPosition, _ encoding: PositionEncoding) -> Int { cut(at: position, encoding).offset }

    /// Returns the offset of a position, and whether the position is between the two halves of a surrogate pair.
    private func cut(at position: TextPosition, _ encoding: PositionEncoding) -> (offset: Int, isInside: Bool) {
        guard position.line >= 0 else { return (0, false) }
        guard position.line < lineStarts.count else { return (bytes.count, false) }
        let line = range(ofLine: position.line)
        var index = line.lowerBound
        var column = 0
        while index < line.upperBound {
            let end = endOfCharacter(at: index)
            let units = encoding.units(ofCharacterOf: end - index)
            column += units
            if column > position.character {
                return (index, encoding == .utf16 && position.character > column - units)
            }
            index = end
        }
        return (min(index, line.upperBound), false)
    }

    /// Returns the position of an offset. An offset inside a character is treated as the start of the character.
    func position(of offset: Int, _ encoding: PositionEncoding) -> TextPosition {
        let offset = min(max(0, offset), bytes.count)
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        // An offset between CR and LF is treated as the end of the line.
        let last = min(offset, range(ofLine: low).upperBound)
        var index = lineStarts[low]
        var column = 0
        while index < last {
            let end = endOfCharacter(at: index)
            if end > last { break }
            column += encoding.units(ofCharacterOf: end - index)
            index = end
        }
        return TextPosition(line: low, character: column)
    }

    private func endOfCharacter(at index: Int) -> Int {
        var end = index + 1
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }

    /// Replaces the text between two positions, which may be in either order. If a position splits a UTF-16 surrogate
    /// pair, the remaining half becomes U+FFFD, which also takes one UTF-16 unit, so that later columns match the
    /// client's.
    mutating func replace(
        _ first: TextPosition, _ second: TextPosition, with text: [UInt8], _ encoding: PositionEncoding
    ) {
        let cuts = [cut(at: first, encoding), cut(at: second, encoding)].sorted {
            $0.offset != $1.offset ? $0.offset < $1.offset : !$0.isInside && $1.isInside
        }
        if text.isEmpty, cuts[0] == cuts[1] { return }
        let replacement = Array("\u{fffd}".utf8)
        replace(
            cuts[0].offset, cuts[1].isInside ? endOfCharacter(at: cuts[1].offset) : cuts[1].offset,
            with: (cuts[0].isInside ? replacement : []) + text + (cuts[1].isInside ? replacement : []))
    }

    /// Replaces the text between two offsets, which may be in either order. The time is linear in the size of the new
    /// text and in the number of bytes and lines after the replaced range.
    mutating func replace(_ first: Int, _ second: Int, with text: some Collection<UInt8>) {
        let range = min(first, second)..<max(first, second)
        bytes.replaceSubrange(range, with: text)
        // A line begins after each line end. Whether a CR is a line end also depends on the byte after it.
        var starts = Array(lineStarts[..<firstLine { $0 >= range.lowerBound }])
        if range.lowerBound == 0 { starts = [0] }
        let end = range.lowerBound + text.count
        for index in max(0, range.lowerBound - 1)..<max(0, end) where endsLine(at: index) { starts.append(index + 1) }
        let change = text.count - range.count
        starts += lineStarts[firstLine { $0 > range.upperBound }...].map { $0 + change }
        lineStarts = starts
    }

    private func endsLine(at index: Int) -> Bool {
        if bytes[index] == 0x0A { return true }
        return bytes[index] == 0x0D && !(index + 1 < bytes.count && bytes[index + 1] == 0x0A)
    }

    /// Returns the first line whose start satisfies the condition.
    private func firstLine(where isFar: (Int) -> Bool) -> Int {
        var low = 0
        var high = lineStarts.count
        while low < high {
            let middle = (low + high) / 2
            if isFar(lineStarts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
