/// The types that a Swift file declares, by their full names: `Outer.Inner`, even if `Inner` is declared in an
/// extension of `Outer`.
///
/// Comments, strings and the branches after `#else` and `#elseif` declare nothing.
enum DeclaredTypes {
    /// The declaration of a type or of an extension.
    struct Declaration {
        /// The full name, with the names of the enclosing types.
        var name: String
        var isExtension: Bool
        /// The number of lines of code from the keyword to the closing brace, both included. Lines that have only
        /// comments, white space, or the continuation of a string don't count.
        var lines: Int
    }

    /// The declarations in each file of `Sources`.
    static let ofSources = Repository.files(below: "Sources", ending: ".swift").map { path in
        (path: path, declarations: declarations(in: Repository.text(path) ?? ""))
    }

    static func names(in text: String) -> [String] {
        declarations(in: text).filter { !$0.isExtension }.map(\.name)
    }

    /// Returns the declarations in a text, in the order in which they begin.
    static func declarations(in text: String) -> [Declaration] {
        var declarations: [Declaration] = []
        var scopes: [(depth: Int, index: Int, firstLine: Int)] = []
        var depth = 0
        var opening: (index: Int, line: Int)?
        let words = words(of: bytesOfCode(of: text))
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
                // `class func`, and members whose names are `extension` or the like.
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

    /// Returns the words of a text, including their dots, and its other characters one by one, each with the number of
    /// lines of code up to its own.
    private static func words(of code: [UInt8]) -> [(text: String, line: Int)] {
        var words: [(text: String, line: Int)] = []
        var line = 0
        var isNewLine = true
        var index = 0
        while index < code.count {
            let byte = code[index]
            if byte == newline { isNewLine = true }
            if byte == newline || byte == UInt8(ascii: " ") {
                index += 1
                continue
            }
            let start = index
            index += 1
            if isPart(byte) {
                while index < code.count, isPart(code[index]) || code[index] == UInt8(ascii: ".") { index += 1 }
            }
            if isNewLine { line += 1 }
            isNewLine = false
            words.append((String(decoding: code[start..<index], as: UTF8.self), line))
        }
        return words
    }

    private static let newline = UInt8(ascii: "\n")

    /// Whether a byte is part of a word; non-ASCII letters are.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    /// Returns a text without comments, strings and the branches after `#else` and `#elseif`.
    static func code(of text: String) -> String { String(decoding: bytesOfCode(of: text), as: UTF8.self) }

    private static func bytesOfCode(of text: String) -> [UInt8] {
        var kept: [UInt8] = []
        var isLeftOut = [false]
        let code = Scanner(bytes: Array(text.utf8)).withoutComments()
        for line in code.split(separator: newline, omittingEmptySubsequences: false) {
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
            kept.append(newline)
        }
        return kept
    }

    /// Skips comments and strings. It works on bytes, because a debug build takes minutes for the characters of all
    /// sources.
    private struct Scanner {
        let bytes: [UInt8]

        private func has(_ word: String, at index: Int) -> Bool {
            var index = index
            for byte in word.utf8 {
                guard index < bytes.count, bytes[index] == byte else { return false }
                index += 1
            }
            return true
        }

        func withoutComments() -> [UInt8] {
            var kept: [UInt8] = []
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte == UInt8(ascii: "/"), has("//", at: index) {
                    while index < bytes.count, bytes[index] != newline { index += 1 }
                } else if byte == UInt8(ascii: "/"), has("/*", at: index) {
                    let end = endOfBlockComment(at: index)
                    kept += bytes[index..<end].filter { $0 == newline }
                    index = end
                } else if let end = endOfString(at: index) {
                    // No multi-line string in this repository contains `#if`.
                    kept += Array("\"\"".utf8) + bytes[index..<end].filter { $0 == newline }
                    index = end
                } else {
                    kept.append(byte)
                    index += 1
                }
            }
            return kept
        }

        private func endOfBlockComment(at start: Int) -> Int {
            var index = start + 2
            var level = 1
            while level > 0, index < bytes.count {
                if has("*/", at: index) {
                    level -= 1
                    index += 2
                } else if has("/*", at: index) {
                    level += 1
                    index += 2
                } else {
                    index += 1
                }
            }
            return index
        }

        /// Returns the index after the string literal of any kind that begins at `start`; `nil` if none begins there.
        /// Code in an interpolation is skipped with it.
        private func endOfString(at start: Int) -> Int? {
            var index = start
            while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
            let hashes = String(repeating: "#", count: index - start)
            let quotes = has("\"\"\"", at: index) ? "\"\"\"" : "\""
            let (end, escape, interpolation) = (quotes + hashes, "\\" + hashes, "\\" + hashes + "(")
            index += quotes.utf8.count
            while index < bytes.count {
                if has(end, at: index) { return index + end.utf8.count }
                if has(interpolation, at: index) {
                    index = endOfInterpolation(at: index + interpolation.utf8.count)
                } else {
                    index += has(escape, at: index) ? escape.utf8.count + 1 : 1
                }
            }
            return bytes.count
        }

        private func endOfInterpolation(at start: Int) -> Int {
            var index = start
            var level = 1
            while level > 0, index < bytes.count {
                if let end = endOfString(at: index) {
                    index = end
                    continue
                }
                if bytes[index] == UInt8(ascii: "(") { level += 1 }
                if bytes[index] == UInt8(ascii: ")") { level -= 1 }
                index += 1
            }
            return index
        }
    }
}
