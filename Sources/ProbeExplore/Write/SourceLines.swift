/// Finds the lines of a script by byte offset.
package struct SourceLines {
    let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the offset of the start of the line that contains the given offset.
    func start(of offset: Int) -> Int {
        var start = min(offset, bytes.count)
        while start > 0, bytes[start - 1] != 10 { start -= 1 }
        return start
    }

    /// Returns the offset after the line feed of the line that contains the given offset.
    func end(of offset: Int) -> Int {
        var end = min(offset, bytes.count)
        while end < bytes.count, bytes[end] != 10 { end += 1 }
        return min(end + 1, bytes.count)
    }

    /// Returns the range extended to complete lines if the rest of these lines contains only blanks and comments.
    /// Otherwise, returns the range unchanged.
    func whole(_ range: Range<Int>) -> Range<Int> {
        let (start, end) = (start(of: range.lowerBound), end(of: range.upperBound))
        let before = bytes[start..<range.lowerBound]
        let after = bytes[range.upperBound..<end].drop { Self.isBlank($0) }
        guard before.allSatisfy(Self.isBlank), after.isEmpty || after.first == UInt8(ascii: "#") else { return range }
        return start..<end
    }

    /// Returns the spaces and tabs at the beginning of the line that contains an offset.
    func indentation(at offset: Int) -> String {
        String(decoding: bytes[start(of: offset)...].prefix { $0 == 32 || $0 == 9 }, as: UTF8.self)
    }

    /// Returns the ranges of all lines that begin with a word, such as `include`.
    func lines(beginningWith word: String) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = end(of: start)
            let text = bytes[start..<end].drop(while: Self.isBlank)
            if text.starts(with: word.utf8), let next = text.dropFirst(word.utf8.count).first, Self.isBlank(next) {
                result.append(start..<end)
            }
            start = end
        }
        return result
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
}
