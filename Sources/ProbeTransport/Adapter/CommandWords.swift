/// Splits a command line into words, with quotes and backslashes as in a POSIX shell, but without the expansion of
/// variables and patterns.
package enum CommandWords {
    package enum Failure: Error, Equatable {
        case empty
        case openQuote(Character)
        case nul
    }

    package static func split(_ command: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = command.makeIterator()
        while let character = characters.next() {
            switch (quote, character) {
            case (_, "\0"): throw .nul
            case (let open?, _) where character == open: quote = nil
            case ("\"", "\\"):
                guard let next = characters.next() else { throw .openQuote("\"") }
                // Inside double quotes, a backslash is literal unless it precedes `"`, `\`, `$` or a backquote.
                word =
                    (word ?? "") + (next == "\"" || next == "\\" || next == "$" || next == "`" ? "" : "\\")
                    + String(next)
            case (_?, _): word = (word ?? "") + String(character)
            case (nil, "\\"):
                if let next = characters.next() { word = (word ?? "") + String(next) }
            case (nil, "'"), (nil, "\""):
                quote = character
                word = word ?? ""
            case (nil, " "), (nil, "\t"), (nil, "\n"):
                if let finished = word { words.append(finished) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let quote { throw .openQuote(quote) }
        if let word { words.append(word) }
        if words.isEmpty || words[0].isEmpty { throw .empty }
        return words
    }
}
