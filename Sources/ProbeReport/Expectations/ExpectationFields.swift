import ProbeBase
import ProbeScenario

/// Splits one line of an expectations file into its words and its comment.
///
/// Words are separated by spaces and tabs. A word in `'single quotes'` is literal. In a word in `"double quotes"`, the
/// escapes `\"`, `\\`, `\r`, `\n`, `\t`, `\0` and `\xHH` have the same meaning as in a script. A word that does not
/// begin with a quote is literal, including any quotes and `#` inside it. A `#` at the start of a word begins the
/// comment.
struct ExpectationFields {
    struct Field {
        var text: String
        var isQuoted: Bool
        var span: SourceSpan
    }

    private(set) var all: [Field] = []
    /// The comment without its `#` and without leading or trailing blanks; `nil` if the line has no comment.
    private(set) var comment: String?
    private(set) var problem: ExpectationsFile.Problem?

    var isEmpty: Bool { all.isEmpty && problem == nil }

    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    /// Splits a line.
    ///
    /// - Parameter line: the line number, from 1.
    init(_ source: SourceFile, line: Int) {
        let range = source.range(ofLine: line)
        bytes = source.bytes
        (index, end) = (range.lowerBound, range.upperBound)
        while problem == nil, let first = skipBlanks() {
            switch first {
            case UInt8(ascii: "#"):
                let text = String(decoding: bytes[(index + 1)..<end], as: UTF8.self).trimmed
                comment = text.isEmpty ? nil : text
                return
            case UInt8(ascii: "'"), UInt8(ascii: "\""): readQuoted(first)
            default: readPlain()
            }
        }
    }

    /// Skips blanks and returns the next byte without consuming it; `nil` at the end of the line.
    private mutating func skipBlanks() -> UInt8? {
        while index < end, isBlank(bytes[index]) { index += 1 }
        return index < end ? bytes[index] : nil
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private mutating func readPlain() {
        let start = index
        while index < end, !isBlank(bytes[index]) { index += 1 }
        add(Array(bytes[start..<index]), isQuoted: false, from: start)
    }

    private mutating func readQuoted(_ quote: UInt8) {
        let start = index
        index += 1
        var text: [UInt8] = []
        while index < end, bytes[index] != quote {
            guard quote == UInt8(ascii: "\""), bytes[index] == UInt8(ascii: "\\") else {
                text.append(bytes[index])
                index += 1
                continue
            }
            guard let byte = readEscape(in: start) else { return }
            text.append(byte)
        }
        guard index < end else {
            fail("this \(quote == 0x22 ? "\"" : "'") is not closed on the same line", from: start, to: end, nil)
            return
        }
        index += 1
        if index < end, !isBlank(bytes[index]) {
            fail("missing blank after the closing quote", from: index, to: index + 1, nil)
            return
        }
        add(text, isQuoted: true, from: start)
    }

    /// Reads an escape.
    ///
    /// - Parameter word: the offset of the opening quote of the word that contains the escape.
    private mutating func readEscape(in word: Int) -> UInt8? {
        let start = index
        index += 2
        guard index <= end else {
            fail("this \" is not closed on the same line", from: word, to: end, nil)
            return nil
        }
        switch bytes[index - 1] {
        case UInt8(ascii: "\""): return 0x22
        case UInt8(ascii: "\\"): return 0x5C
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "0"): return 0
        case UInt8(ascii: "x"):
            let digits = bytes[index..<min(index + 2, end)]
            if digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
                index += 2
                return byte
            }
        default: break
        }
        fail(
            "unknown escape", from: start, to: min(index, end),
            "the escapes are \\\" \\\\ \\r \\n \\t \\0 \\xHH; 'single quotes' have no escapes")
        return nil
    }

    private mutating func add(_ text: [UInt8], isQuoted: Bool, from start: Int) {
        all.append(
            Field(
                text: String(decoding: text, as: UTF8.self), isQuoted: isQuoted,
                span: SourceSpan(start: start, end: index)))
    }

    private mutating func fail(_ text: String, from start: Int, to end: Int, _ hint: String?) {
        problem = ExpectationsFile.Problem(span: SourceSpan(start: start, end: end), text: text, hint: hint)
    }
}

extension String {
    /// The text without leading and trailing blanks.
    fileprivate var trimmed: String {
        var scalars = unicodeScalars[...]
        while let first = scalars.first, first == " " || first == "\t" { scalars.removeFirst() }
        while let last = scalars.last, last == " " || last == "\t" || last == "\r" { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// Writes words in the form that ``ExpectationFields`` reads.
enum ExpectationWord {
    /// Returns the word, in quotes only if it requires quotes.
    static func quoted(_ word: String) -> String {
        let isPlain =
            word.unicodeScalars.first.map { !"'\"#".unicodeScalars.contains($0) } ?? false
            && word != ExpectationsFile.noSubject
        let scalars = word.unicodeScalars
        let isVisible = Escaped.text(word.utf8) == word
        if isPlain, isVisible, !scalars.contains(" ") { return word }
        if isVisible, !scalars.contains("'") { return "'\(word)'" }
        var text = "\""
        for scalar in scalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case " ": text += " "
            case _ where Escaped.text(String(scalar).utf8) == String(scalar): text.unicodeScalars.append(scalar)
            default: for byte in String(scalar).utf8 { text += ExpectationWord.escape(byte) }
            }
        }
        return text + "\""
    }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case 0x0D: "\\r"
        case 0x0A: "\\n"
        case 0x09: "\\t"
        case 0x00: "\\0"
        default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
