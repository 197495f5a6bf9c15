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
        /// The number of lines from the keyword to the closing brace, both included.
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
        let words = words(of: code(of: text))
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

    /// Returns the words of a text, including their dots, and its other characters one by one, each with its line number.
    private static func words(of code: String) -> [(text: String, line: Int)] {
        var words: [(text: String, line: Int)] = []
        var word = ""
        var line = 1
        func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
        for character in code {
            if isPart(character) || character == "." && !word.isEmpty {
                word.append(character)
                continue
            }
            if !word.isEmpty { words.append((word, line)) }
            word = ""
            if character == "\n" { line += 1 }
            if !character.isWhitespace { words.append((String(character), line)) }
        }
        return word.isEmpty ? words : words + [(word, line)]
    }

    /// Returns a text without comments, strings and the branches after `#else` and `#elseif`. Line numbers don't
    /// change.
    static func code(of text: String) -> String {
        var kept = ""
        var isLeftOut = [false]
        for line in withoutComments(text).split(separator: "\n", omittingEmptySubsequences: false) {
            let first = line.drop { $0 == " " }
            if first.hasPrefix("#if") {
                isLeftOut.append(isLeftOut.last ?? false)
            } else if first.hasPrefix("#else") {
                isLeftOut[isLeftOut.count - 1] = true
            } else if first.hasPrefix("#endif"), isLeftOut.count > 1 {
                isLeftOut.removeLast()
            } else if isLeftOut.last == false {
                kept += line
            }
            kept += "\n"
        }
        return kept
    }

    private static func withoutComments(_ text: String) -> String {
        var kept = ""
        var rest = Substring(text)
        while let character = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { $0 != "\n" }
            } else if rest.hasPrefix("/*") {
                let end = afterBlockComment(rest)
                kept += lineEnds(from: rest, to: end)
                rest = end
            } else if let end = afterString(rest) {
                // No multi-line string in this repository contains `#if`.
                kept += "\"\"" + lineEnds(from: rest, to: end)
                rest = end
            } else {
                kept.append(character)
                rest = rest.dropFirst()
            }
        }
        return kept
    }

    private static func lineEnds(from start: Substring, to end: Substring) -> String {
        String(start[..<end.startIndex].filter { $0 == "\n" })
    }

    private static func afterBlockComment(_ text: Substring) -> Substring {
        var rest = text.dropFirst(2)
        var level = 1
        while level > 0, !rest.isEmpty {
            if rest.hasPrefix("*/") {
                level -= 1
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("/*") {
                level += 1
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
            }
        }
        return rest
    }

    /// Returns the text after the string literal that begins here, of any kind; `nil` if none begins here. Code in an
    /// interpolation is skipped with it.
    private static func afterString(_ text: Substring) -> Substring? {
        let hashes = text.prefix { $0 == "#" }
        var rest = text.dropFirst(hashes.count)
        guard rest.first == "\"" else { return nil }
        let quotes = rest.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
        let (end, escape, interpolation) = (quotes + hashes, "\\" + hashes, "\\" + hashes + "(")
        rest = rest.dropFirst(quotes.count)
        while !rest.isEmpty {
            if rest.hasPrefix(end) { return rest.dropFirst(end.count) }
            if rest.hasPrefix(interpolation) {
                rest = afterInterpolation(rest.dropFirst(interpolation.count))
            } else if rest.hasPrefix(escape) {
                rest = rest.dropFirst(escape.count + 1)
            } else {
                rest = rest.dropFirst()
            }
        }
        return rest
    }

    private static func afterInterpolation(_ text: Substring) -> Substring {
        var rest = text
        var level = 1
        while level > 0, let character = rest.first {
            if let end = afterString(rest) {
                rest = end
                continue
            }
            if character == "(" { level += 1 }
            if character == ")" { level -= 1 }
            rest = rest.dropFirst()
        }
        return rest
    }
}
