/// The types that a Swift file declares, by their full names: `Outer.Inner`, also where `Inner` is declared in an extension of `Outer`.
///
/// Comments, strings and what stands behind `#else` or `#elseif` do not count. An extension declares nothing.
enum DeclaredTypes {
    static func names(in text: String) -> [String] {
        var names: [String] = []
        var scopes: [(depth: Int, name: String)] = []
        var depth = 0
        var opening: String?
        let words = words(of: code(of: text))
        for (index, word) in words.enumerated() {
            switch word {
            case "{":
                if let name = opening { scopes.append((depth, name)) }
                opening = nil
                depth += 1
            case "}":
                depth -= 1
                if let last = scopes.last, last.depth >= depth { scopes.removeLast() }
            case "struct", "class", "enum", "actor", "protocol", "typealias", "extension":
                guard index + 1 < words.count, let name = typeName(words[index + 1]) else { continue }
                // `class func`, and a member that is called `extension` or the like.
                if index > 0, [".", "case", "let", "var", "func"].contains(words[index - 1]) { continue }
                if word != "extension" { names.append((scopes.map(\.name) + [name]).joined(separator: ".")) }
                if word != "typealias" { opening = name }
            default: break
            }
        }
        return names
    }

    private static func typeName(_ word: String) -> String? {
        guard let first = word.first, first.isUppercase else { return nil }
        return word
    }

    /// Words with the dots in them, and every other character alone.
    private static func words(of code: String) -> [String] {
        var words: [String] = []
        var word = ""
        func isPart(_ character: Character) -> Bool { character.isLetter || character.isNumber || character == "_" }
        for character in code {
            if isPart(character) || character == "." && !word.isEmpty {
                word.append(character)
                continue
            }
            if !word.isEmpty { words.append(word) }
            word = ""
            if !character.isWhitespace { words.append(String(character)) }
        }
        return word.isEmpty ? words : words + [word]
    }

    /// The text without comments, strings and the branches behind `#else` and `#elseif`.
    private static func code(of text: String) -> String {
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
                kept += line + "\n"
            }
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
                rest = afterBlockComment(rest)
            } else if let end = afterString(rest) {
                // A multi-line string holds no `#if` of ours.
                kept += "\"\""
                rest = end
            } else {
                kept.append(character)
                rest = rest.dropFirst()
            }
        }
        return kept
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

    /// Behind the string literal that begins here, of whatever kind; nil where none does. Code in an interpolation is skipped with it.
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
