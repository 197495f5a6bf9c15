/// A word of the script: what it is and where.
package struct Token: Sendable {
    package enum Kind: UInt8, Sendable {
        case word, number, string, rawString, regex
        /// What stands between the parentheses of `hex(…)`.
        case hexDigits
        /// `[::1]`
        case bracketedHost
        /// One argument of a `process` line, as written.
        case shellWord
        case pipe, plus, minus, star, slash, leftParenthesis, rightParenthesis, leftBrace, rightBrace
        /// Inside of parentheses.
        case leftBracket, rightBracket
        case comma, assign, arrow, doubleArrow, colon, semicolon, dot, dotDot, percent
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
        case newline, end
        /// Something that was diagnosed already.
        case invalid

        var isPartOfCommand: Bool { self == .shellWord }
    }

    package var kind: Kind
    /// Offsets into the file: half-open.
    package var start: UInt32
    package var end: UInt32
    /// White space (or the start of a line) stands before it.
    package var isSpaced: Bool

    init(_ kind: Kind, _ start: Int, _ end: Int, isSpaced: Bool) {
        self.kind = kind
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.isSpaced = isSpaced
    }
}

/// The words of a file and the comments between them.
package struct TokenList: Sendable {
    /// Ends with one of kind `end`.
    package var tokens: [Token]
    /// Each from its `#` to the end of its line, in order.
    package var comments: [Range<Int>]
    var diagnostics: [Diagnostic]
    /// There is no sense in parsing: the file is no text.
    var isUnreadable = false
}
