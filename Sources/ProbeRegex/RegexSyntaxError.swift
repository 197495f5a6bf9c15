/// An error in a pattern, and its place.
package struct RegexSyntaxError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The bytes of the pattern are not UTF-8.
        case notUTF8
        /// A `(` or a `[` that is never closed; the offset is that of the opening character.
        case unclosedGroup, unclosedClass
        /// A `)` that closes nothing.
        case unopenedGroup
        /// A `\` at the end of the pattern.
        case danglingEscape
        /// `\` and a letter or digit that have no meaning; the text is the character.
        case unknownEscape(String)
        /// `\x` without two hex digits after it.
        case badByteEscape
        /// `\u` without `{`, one to six hex digits and `}`, or a number that is not a Unicode scalar.
        case badScalarEscape
        /// `\0` with a digit after it: octal escapes are not supported.
        case octalEscape
        /// `(?` and something that is not a group.
        case unknownGroup
        /// A flag other than `i`, `m`, `s`.
        case unknownFlag(String)
        /// `(?<` without a name and `>`.
        case badGroupName
        case duplicateGroupName(String)
        case tooManyGroups(limit: Int)
        /// A quantifier with nothing before it.
        case nothingToRepeat
        /// A quantifier after a quantifier.
        case repeatedTwice
        /// `{,n}`.
        case noRepeatMinimum
        case repeatBoundsReversed(Int, Int)
        /// `b-a` in a class.
        case rangeReversed
        /// An end of a range that is a class or more than one byte.
        case badRangeEnd
        /// A pattern matches bytes, and "not é" is not a single byte.
        case nonASCIIInNegatedClass
        case unknownPOSIXClass(String)
        /// Not supported, because none of them can be matched in linear time (or is useful without the others).
        case backreference, lookaround, possessive, atomicGroup, conditional
        case nestedTooDeep(limit: Int)
        /// The program would have more instructions than this limit.
        case tooLarge(limit: Int)
    }

    package let kind: Kind
    /// The offset of the error in bytes from the start of the pattern; at most the pattern's length.
    package let offset: Int

    package init(_ kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension RegexSyntaxError: CustomStringConvertible {
    package var description: String { "\(message) (at byte \(offset) of the pattern)" }

    /// A one-line description that also names the fix if there is only one; it does not include the position.
    package var message: String {
        switch kind {
        case .notUTF8: #"the pattern is not UTF-8; write a byte as \xHH"#
        case .unclosedGroup: "this '(' has no ')'"
        case .unclosedClass: "this '[' has no ']' (a ']' right behind '[' or '[^' is a member of the class)"
        case .unopenedGroup: #"this ')' closes nothing; a literal one is '\)'"#
        case .danglingEscape: #"the pattern ends in a lone '\'; a literal one is '\\'"#
        case .unknownEscape("Z"): #"there is no '\Z'; the end of the input is '\z' or '$'"#
        case .unknownEscape("p"), .unknownEscape("P"), .unknownEscape("X"):
            "Unicode properties are not supported: what is matched are bytes"
        case .unknownEscape("Q"), .unknownEscape("E"):
            #"there is no '\Q…\E'; put a '\' before each special character, or insert a variable with ${name}"#
        case .unknownEscape(let character): #"there is no escape '\\#(character)'"#
        case .badByteEscape: #"'\x' takes two hex digits, as in '\x0d'"#
        case .badScalarEscape: #"'\u' takes a Unicode scalar in braces, as in '\u{e9}'"#
        case .octalEscape: #"there are no octal escapes; write '\xHH' ('\0' alone is NUL)"#
        case .unknownGroup: "there is no group of this kind; there are (…), (?:…), (?<name>…), (?i) and (?i:…)"
        case .unknownFlag(let flag): "there is no flag '\(flag)'; there are i, m and s"
        case .badGroupName: "a group's name is a letter or '_', then letters, digits, '_' or '-', then '>'"
        case .duplicateGroupName(let name): "the group name '\(name)' is used twice"
        case .tooManyGroups(let limit): "more than \(limit) named groups"
        case .nothingToRepeat: #"nothing to repeat before this quantifier; a literal one needs a '\' before it"#
        case .repeatedTwice: "a quantifier behind a quantifier; put the first one into (?:…)"
        case .noRepeatMinimum: #"write '{0,n}' for "up to n""#
        case .repeatBoundsReversed(let low, let high): "the bounds of '{\(low),\(high)}' are the wrong way round"
        case .rangeReversed: "this range ends before it starts"
        case .badRangeEnd: #"a range goes from one byte to another; a literal '-' stands first, last or as '\-'"#
        case .nonASCIIInNegatedClass:
            "a negated class holds single bytes only, and this character is several bytes in UTF-8"
        case .unknownPOSIXClass(let name): "there is no class '[:\(name):]'"
        case .backreference: Self.unsupported("backreferences")
        case .lookaround: Self.unsupported("lookahead and lookbehind")
        case .possessive: Self.unsupported("possessive quantifiers")
        case .atomicGroup: Self.unsupported("atomic groups")
        case .conditional: Self.unsupported("conditional groups")
        case .nestedTooDeep(let limit): "groups are nested deeper than \(limit)"
        case .tooLarge(let limit):
            "the pattern is too large: with its repeats written out it has more than \(limit) steps"
        }
    }

    private static func unsupported(_ what: String) -> String {
        "\(what) are not supported: every pattern is matched in time linear in the input"
    }
}
