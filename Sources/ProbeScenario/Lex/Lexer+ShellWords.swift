extension Lexer {
    /// After `process P =` the rest of the line is words as a POSIX shell cuts them; such a line never goes on.
    mutating func shellWordsIfProcessLine() {
        let count = tokens.count
        guard count >= 2, tokens[count - 2].kind == .word, tokens[count - 1].kind == .word,
            bytes.holds("process", in: Int(tokens[count - 2].start)..<Int(tokens[count - 2].end)),
            count == 2 || tokens[count - 3].kind == .newline || tokens[count - 3].kind == .semicolon
        else { return }
        var index = position
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "\t") {
            index += 1
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return }
        position = index + 1
        add(.assign, index, index + 1)
        while shellWord() {}
        let end = position
        if position < bytes.count { position += 1 }
        add(.newline, end, position)
        markSpace()
    }

    /// Takes the next word; false at the end of the line.
    private mutating func shellWord() -> Bool {
        while let byte = peek(0), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D {
            position += 1
        }
        guard let first = peek(0), first != 0x0A else { return false }
        if first == UInt8(ascii: "#") {
            skipComment()
            return false
        }
        let start = position
        while let byte = peek(0), byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != 0x0A {
            if byte == 0x0D, peek(1) == 0x0A { break }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                guard skipQuote(byte) else {
                    add(.invalid, start, position)
                    return true
                }
            case UInt8(ascii: "\\"):
                position += 1
                if let next = peek(0), next != 0x0A { position += 1 }
            case UInt8(ascii: "$") where peek(1) == UInt8(ascii: "{"):
                // `${P.port}` may not hold white space; an unclosed one is the parser's to report.
                position += 2
            default: position += 1
            }
        }
        markSpace()
        add(.shellWord, start, position)
        return true
    }

    private mutating func skipQuote(_ quote: UInt8) -> Bool {
        let start = position
        position += 1
        while let byte = peek(0), byte != 0x0A {
            position += 1
            if byte == quote { return true }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = peek(0), next != 0x0A {
                position += 1
            }
        }
        report(
            .unterminatedString,
            "this \(quote == UInt8(ascii: "'") ? "'" : "\"") of the command is not closed on its line",
            hint: "close the quote; a process line never goes on in the next line", start, start + 1)
        return false
    }
}
