/// Finds the types that a Swift file declares. Their names are fully qualified, such as `Outer.Inner`, even if `Inner`
/// is declared in an extension of `Outer`.
///
/// Comments, strings and the branches after `#else` and `#elseif` are ignored.
enum DeclaredTypes {
    /// A declaration of a type or an extension.
    struct Declaration {
        /// The fully qualified name, which includes the names of the enclosing types.
        var name: String
        var isExtension: Bool
        /// The number of lines from the line of the keyword to the line of the closing brace, inclusive.
        var lines: Int
    }

    /// The code of each file in `Sources`, without comments and strings.
    static let codeOfSources = Repository.sources.map { (path: $0.path, code: code(of: $0.text)) }

    /// The declarations in each file in `Sources`.
    static let ofSources = codeOfSources.map { (path: $0.path, declarations: declarations(inCode: $0.code)) }

    static func names(in text: String) -> [String] {
        declarations(in: text).filter { !$0.isExtension }.map(\.name)
    }

    /// Returns the declarations in a text, in the order in which they begin.
    static func declarations(in text: String) -> [Declaration] { declarations(inCode: code(of: text)) }

    private static func declarations(inCode code: String) -> [Declaration] {
        var declarations: [Declaration] = []
        var scopes: [(depth: Int, index: Int, firstLine: Int)] = []
        var depth = 0
        var opening: (index: Int, line: Int)?
        let words = words(of: code)
        for (index, word) in words.enumerated() {
            switch word.text {
            case "{":
                if let (index, line) = opening { scopes.append((depth, index, line)) }
                opening = nil
                depth += 1
            case "}":
                depth -= 1
                guard let last = scopes.last, last.depth >= depth else { continue }
                declarations[last.index].lines = word.line - last.firstLine + 1
                scopes.removeLast()
            case "struct", "class", "enum", "actor", "protocol", "typealias", "extension":
                guard index + 1 < words.count, let name = typeName(words[index + 1].text) else { continue }
                // `class func`, and members with names such as `extension`, are not declarations of types.
                if index > 0, [".", "case", "let", "var", "func"].contains(words[index - 1].text) { continue }
                let outer = scopes.last.map { declarations[$0.index].name + "." } ?? ""
                declarations.append(Declaration(name: outer + name, isExtension: word.text == "extension", lines: 1))
                if word.text != "typealias" { opening = (declarations.count - 1, word.line) }
            default: break
            }
        }
        return declarations
    }

    private static func typeName(_ word: String) -> String? {
        guard let first = word.first, first.isUppercase else { return nil }
        return word
    }

    /// Returns the words of a text, and all other characters as separate elements, each with its line number. A word
    /// includes the dots in it.
    private static func words(of code: String) -> [(text: String, line: Int)] {
        let bytes = Array(code.utf8)
        var words: [(text: String, line: Int)] = []
        var start: Int?
        var line = 1
        for (index, byte) in bytes.enumerated() {
            if isPart(byte) || byte == UInt8(ascii: ".") && start != nil {
                start = start ?? index
                continue
            }
            if let first = start { words.append((String(decoding: bytes[first..<index], as: UTF8.self), line)) }
            start = nil
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte > UInt8(ascii: " ") { words.append((String(UnicodeScalar(byte)), line)) }
        }
        if let start { words.append((String(decoding: bytes[start...], as: UTF8.self), line)) }
        return words
    }

    /// Returns whether a byte can be part of an identifier.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    /// Returns the text without comments, strings and the branches after `#else` and `#elseif`. Line numbers are
    /// unchanged.
    static func code(of text: String) -> String {
        var kept: [UInt8] = []
        var isLeftOut = [false]
        for line in SourceText(text).withoutComments().split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        {
            let first = line.drop { $0 == UInt8(ascii: " ") }
            if first.starts(with: "#if".utf8) {
                isLeftOut.append(isLeftOut.last ?? false)
            } else if first.starts(with: "#else".utf8) {
                isLeftOut[isLeftOut.count - 1] = true
            } else if first.starts(with: "#endif".utf8), isLeftOut.count > 1 {
                isLeftOut.removeLast()
            } else if isLeftOut.last == false {
                kept += line
            }
            kept.append(UInt8(ascii: "\n"))
        }
        return String(decoding: kept, as: UTF8.self)
    }
}

/// The text of a Swift file, as bytes that are read from the beginning. The tests read all sources; with `Character`s
/// instead of bytes, reading took a tenth of the time of all unit tests in a debug build.
private struct SourceText {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private func isAt(_ text: StaticString, _ offset: Int = 0) -> Bool {
        guard index + offset + text.utf8CodeUnitCount <= bytes.count else { return false }
        for position in 0..<text.utf8CodeUnitCount
        where bytes[index + offset + position] != text.utf8Start[position] {
            return false
        }
        return true
    }

    /// Returns the text without comments, in which every string is replaced with an empty string. Line numbers are
    /// unchanged.
    func withoutComments() -> [UInt8] {
        var rest = self
        var kept: [UInt8] = []
        while rest.index < bytes.count {
            let start = rest.index
            if rest.isAt("//") {
                while rest.index < bytes.count, bytes[rest.index] != UInt8(ascii: "\n") { rest.index += 1 }
            } else if rest.isAt("/*") {
                rest.skipBlockComment()
                kept += bytes[start..<rest.index].filter { $0 == UInt8(ascii: "\n") }
            } else if rest.skipsString() {
                // The line feeds of the string are kept. No multi-line string in the repository contains `#if`.
                kept += Array("\"\"".utf8) + bytes[start..<rest.index].filter { $0 == UInt8(ascii: "\n") }
            } else {
                kept.append(bytes[start])
                rest.index += 1
            }
        }
        return kept
    }

    private mutating func skipBlockComment() {
        index += 2
        var level = 1
        while level > 0, index < bytes.count {
            let (ends, begins) = (isAt("*/"), isAt("/*"))
            level += begins ? 1 : ends ? -1 : 0
            index += begins || ends ? 2 : 1
        }
    }

    /// Skips a string literal of any kind, including the code in its interpolations. Returns whether a string literal
    /// begins at the current position.
    private mutating func skipsString() -> Bool {
        guard bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "#") else { return false }
        let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        guard isAt("\"", hashes) else { return false }
        let quotes = isAt("\"\"\"", hashes) ? 3 : 1
        index += hashes + quotes
        while index < bytes.count {
            if isRun(of: UInt8(ascii: "\""), quotes, at: 0), isRun(of: UInt8(ascii: "#"), hashes, at: quotes) {
                index += quotes + hashes
                return true
            }
            if isAt("\\"), isRun(of: UInt8(ascii: "#"), hashes, at: 1) {
                index += 1 + hashes
                if isAt("(") {
                    index += 1
                    skipInterpolation()
                } else {
                    index += 1
                }
            } else {
                index += 1
            }
        }
        index = min(index, bytes.count)
        return true
    }

    private func isRun(of byte: UInt8, _ count: Int, at offset: Int) -> Bool {
        let start = index + offset
        return start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == byte }
    }

    private mutating func skipInterpolation() {
        var level = 1
        while level > 0, index < bytes.count {
            if skipsString() { continue }
            if isAt("(") { level += 1 }
            if isAt(")") { level -= 1 }
            index += 1
        }
    }
}
