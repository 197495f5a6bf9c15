/// A token of a script: its kind and its place.
package struct Token: Sendable {
    package enum Kind: UInt8, Sendable {
        case word, number, string, rawString, regex
        /// The text between the parentheses of `hex(…)`.
        case hexDigits
        /// An IPv6 address in brackets, such as `[::1]`.
        case bracketedHost
        /// One argument of a `process` line, as written.
        case shellWord
        case pipe, plus, minus, star, slash, leftParenthesis, rightParenthesis, leftBrace, rightBrace
        /// The brackets of an index or a list inside parentheses.
        case leftBracket, rightBracket
        case comma, assign, arrow, doubleArrow, colon, semicolon, dot, dotDot, percent
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case newline, end
        /// Invalid text, for which an error has already been reported.
        case invalid

        var isPartOfCommand: Bool { self == .shellWord }
    }

    package var kind: Kind
    /// The half-open range of offsets into the file.
    package var start: UInt32
    package var end: UInt32
    /// Whether white space, or the start of the line, precedes the token.
    package var isSpaced: Bool

    init(_ kind: Kind, _ start: Int, _ end: Int, isSpaced: Bool) {
        self.kind = kind
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.isSpaced = isSpaced
    }
}

/// The tokens of a file, and the comments between them.
package struct TokenList: Sendable {
    /// The tokens; the last one has the kind `end`.
    package var tokens: [Token]
    /// The comments in order, each from its `#` to the end of its line.
    package var comments: [Range<Int>]
    var diagnostics: [Diagnostic]
    /// Whether the file can't be parsed because it is not text.
    var isUnreadable = false
}
