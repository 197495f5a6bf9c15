/// What is wrong with a pattern, and where.
package struct RegexSyntaxError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The pattern's bytes are no UTF-8.
        case notUTF8
        /// A `(`, or a `[`, that nothing closes; the offset is its own.
        case unclosedGroup, unclosedClass
        /// A `)` that closes nothing.
        case unopenedGroup
        /// A `\` at the end of the pattern.
        case danglingEscape
        /// `\` and a letter or digit that mean nothing; the text is the character.
        case unknownEscape(String)
        /// `\x` without two hex digits behind it.
        case badByteEscape
        /// `\u` without `{`, one to six hex digits and `}`, or no Unicode scalar.
        case badScalarEscape
        /// `\0` with a digit behind it: octal is not in the language.
        case octalEscape
        /// `(?` and something that is no group.
        case unknownGroup
        /// A flag other than `i`, `m`, `s`.
        case unknownFlag(String)
        /// `(?<` without a name and `>`.
        case badGroupName
        case duplicateGroupName(String)
        case tooManyGroups(limit: Int)
        /// A quantifier with nothing before it.
        case nothingToRepeat
        /// A quantifier behind a quantifier.
        case repeatedTwice
        /// `{,n}`.
        case noRepeatMinimum
        case repeatBoundsReversed(Int, Int)
        /// `b-a` in a class.
        case rangeReversed
        /// An end of a range is a class or more than one byte.
        case badRangeEnd
        /// Bytes are what is matched: "not é" is no one byte.
        case nonASCIIInNegatedClass
        case unknownPOSIXClass(String)
        /// Not supported, as none of them can be matched in linear time (or is of use without the others).
        case backreference, lookaround, possessive, atomicGroup, conditional
        case nestedTooDeep(limit: Int)
        /// The program would have more instructions than this.
        case tooLarge(limit: Int)
    }

    package let kind: Kind
    /// Bytes from the start of the pattern to where it is wrong; the pattern's length at most.
    package let offset: Int

    package init(_ kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}
