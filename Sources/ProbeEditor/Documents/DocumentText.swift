import ProbeBase

/// What columns of the protocol count.
enum PositionEncoding: String, Sendable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"

    /// - Parameters:
    ///   - character: its bytes.
    /// - Returns: how many units a character of so many bytes has.
    func units(ofCharacterOf bytes: Int) -> Int {
        switch self {
        case .utf8: bytes
        case .utf16: bytes == 4 ? 2 : 1
        }
    }
}

/// A place in a document, as the protocol says it: both from 0.
struct TextPosition: Equatable, Sendable {
    var line: Int
    /// In units of the encoding.
    var character: Int

    init(line: Int, character: Int) {
        self.line = line
        self.character = character
    }
}

/// The text of a document, with its lines. Lines end with LF, CRLF or CR, as the protocol says; a script's own end with LF.
///
/// Places outside of the text are taken for the nearest inside. Never traps.
struct DocumentText: Sendable {
    private(set) var bytes: [UInt8]
    /// Offset of the first byte of each line.
    private var lineStarts: [Int]

    /// - Parameter bytes: UTF-8.
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

    /// The offset at which a line begins; the end of the text for a line behind the last one.
    func start(ofLine line: Int) -> Int {
        if line < 0 { return 0 }
        return line < lineStarts.count ? lineStarts[line] : bytes.count
    }

    /// The bytes of a line without its end.
    func range(ofLine line: Int) -> Range<Int> {
        let start = start(ofLine: line)
        var end = self.start(ofLine: line + 1)
        while end > start, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D { end -= 1 }
        return start..<end
    }

    /// The byte at a place. A column inside of a character is that of the character, one behind the line the line's end.
    func offset(of position: TextPosition, _ encoding: PositionEncoding) -> Int { cut(at: position, encoding).offset }

    /// The byte at a place, and whether the place is between the two halves of the character there.
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

    /// The place of a byte; one inside of a character is that of the character.
    func position(of offset: Int, _ encoding: PositionEncoding) -> TextPosition {
        let offset = min(max(0, offset), bytes.count)
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        // Between CR and LF the line has ended already.
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

    /// Puts a text in place of what is between two places, in either order. Of a character that UTF-16 cuts in two, the half that
    /// stays becomes U+FFFD, which has one unit as well: the columns behind it are those of the client.
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

    /// Puts a text in place of what is between two offsets, in either order. Takes time linear in the new text and in the bytes and lines
    /// behind it.
    mutating func replace(_ first: Int, _ second: Int, with text: some Collection<UInt8>) {
        let range = min(first, second)..<max(first, second)
        bytes.replaceSubrange(range, with: text)
        // A line begins behind its byte; whether one begins behind a CR depends on the next byte, too.
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

    /// The first line whose start is far enough.
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
