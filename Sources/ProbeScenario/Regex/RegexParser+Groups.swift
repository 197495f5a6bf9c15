extension RegexParser {
    enum GroupKind {
        /// `(?i)`: the rest of the group around it has these flags. All of it is taken.
        case flags
        case plain
        case named(String)
    }

    /// What stands behind `(?`; the position is then at the group's content.
    ///
    /// - Parameter start: The offset of the `(`.
    mutating func groupKind(_ start: Int) throws(RegexSyntaxError) -> GroupKind {
        if take(":") { return .plain }
        if take("=") || take("!") || take("<=") || take("<!") { throw error(.lookaround, at: start) }
        if take(">") { throw error(.atomicGroup, at: start) }
        if take("(") { throw error(.conditional, at: start) }
        if take("P=") { throw error(.backreference, at: start) }
        if take("<") || take("P<") { return .named(try groupName()) }
        return try flagList(start)
    }

    private mutating func groupName() throws(RegexSyntaxError) -> String {
        let start = position
        let wordBytes = ByteSet.word
        while let byte = peek() {
            // As in the language's words: a '-' stands only before a letter or digit.
            let isHyphen = byte == UInt8(ascii: "-") && position > start && peek(1).map(wordBytes.contains) == true
            guard wordBytes.contains(byte) || isHyphen else { break }
            position += 1
        }
        let name = pattern[start..<position]
        guard let first = name.first, !ByteSet.digits.contains(first) else { throw error(.badGroupName, at: start) }
        guard take(">") else { throw error(.badGroupName) }
        let text = String(decoding: name, as: UTF8.self)
        guard !groupNames.contains(text) else { throw error(.duplicateGroupName(text), at: start) }
        guard groupNames.count < Self.groupLimit else { throw error(.tooManyGroups(limit: Self.groupLimit), at: start) }
        return text
    }

    private mutating func flagList(_ start: Int) throws(RegexSyntaxError) -> GroupKind {
        var changed = flags
        var value = true
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "i"): changed.ignoresCase = value
            case UInt8(ascii: "m"): changed.isMultiline = value
            case UInt8(ascii: "s"): changed.dotMatchesNewline = value
            case UInt8(ascii: "-") where value: value = false
            case UInt8(ascii: ")"), UInt8(ascii: ":"):
                guard position > start + 2 else { throw error(.unknownGroup, at: start) }
                position += 1
                flags = changed
                return byte == UInt8(ascii: ":") ? .plain : .flags
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                // `(?P>name)`, `(?R)` and the like are groups of other engines rather than flags.
                if position == start + 2, byte < UInt8(ascii: "a") { throw error(.unknownGroup, at: start) }
                throw error(.unknownFlag(String(UnicodeScalar(byte))))
            default: throw error(.unknownGroup, at: start)
            }
            position += 1
        }
        throw error(.unclosedGroup, at: start)
    }
}
