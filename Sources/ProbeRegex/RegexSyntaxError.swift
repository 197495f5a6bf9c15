/// An error in a pattern, and its position.
package struct RegexSyntaxError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The bytes of the pattern are not UTF-8.
        case notUTF8
        /// A `(` or a `[` is never closed; the offset is the position of the opening character.
        case unclosedGroup, unclosedClass
        /// A `)` has no matching `(`.
        case unopenedGroup
        /// The pattern ends with a `\`.
        case danglingEscape
        /// A `\` and the letter or digit after it do not form an escape sequence; the associated value is that letter
        /// or digit.
        case unknownEscape(String)
        /// `\x` is not followed by two hexadecimal digits.
        case badByteEscape
        /// `\u` is not followed by one to six hexadecimal digits in braces, or the number is not a Unicode scalar.
        case badScalarEscape
        /// `\0` is followed by a digit, but octal escapes are not supported.
        case octalEscape
        /// `(?` is followed by text that does not begin a group.
        case unknownGroup
        /// A flag is not `i`, `m` or `s`.
        case unknownFlag(String)
        /// `(?<` is not followed by a name and `>`.
        case badGroupName
        case duplicateGroupName(String)
        case tooManyGroups(limit: Int)
        /// A quantifier has nothing before it to repeat.
        case nothingToRepeat
        /// A quantifier follows another quantifier.
        case repeatedTwice
        /// A repetition such as `{,n}` has no minimum.
        case noRepeatMinimum
        case repeatBoundsReversed(Int, Int)
        /// A range in a class, such as `b-a`, is reversed.
        case rangeReversed
        /// One end of a range in a class, such as `a-\d`, is itself a class, or a character of more than one byte.
        case badRangeEnd
        /// A negated class contains a non-ASCII character. A class matches single bytes, so it can't match "anything
        /// but é".
        case nonASCIIInNegatedClass
        case unknownPOSIXClass(String)
        /// Constructs that are not supported, because they can't be matched in linear time or are useful only together
        /// with such constructs.
        case backreference, lookaround, possessive, atomicGroup, conditional
        case nestedTooDeep(limit: Int)
        /// The compiled program would have more instructions than the limit.
        case tooLarge(limit: Int)
    }

    package let kind: Kind
    /// The offset of the error in bytes from the start of the pattern, at most the pattern's length.
    package let offset: Int

    package init(_ kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension RegexSyntaxError: CustomStringConvertible {
    package var description: String { "\(message) (at byte \(offset) of the pattern)" }

    /// A one-line description without the position. If there is only one possible fix, the description includes it.
    package var message: String {
        switch kind {
        case .notUTF8: #"the pattern is not UTF-8; write a byte as \xHH"#
        case .unclosedGroup: "this '(' has no matching ')'"
        case .unclosedClass: "this '[' has no matching ']' (a ']' directly after '[' or '[^' is a member of the class)"
        case .unopenedGroup: #"this ')' has no matching '('; write a literal ')' as '\)'"#
        case .danglingEscape: #"the pattern ends with a single '\'; write a literal '\' as '\\'"#
        case .unknownEscape("Z"): #"unknown escape '\Z'; write the end of the input as '\z' or '$'"#
        case .unknownEscape("p"), .unknownEscape("P"), .unknownEscape("X"):
            "Unicode properties are not supported: a pattern matches bytes"
        case .unknownEscape("Q"), .unknownEscape("E"):
            #"'\Q…\E' is not supported; put a '\' before each special character, or insert a variable with ${name}"#
        case .unknownEscape(let character): #"unknown escape '\\#(character)'"#
        case .badByteEscape: #"'\x' must be followed by two hex digits, as in '\x0d'"#
        case .badScalarEscape: #"'\u' must be followed by a Unicode scalar in braces, as in '\u{e9}'"#
        case .octalEscape: #"octal escapes are not supported; write '\xHH' ('\0' alone is NUL)"#
        case .unknownGroup: "unknown kind of group; use (…), (?:…), (?<name>…), (?i) or (?i:…)"
        case .unknownFlag(let flag): "unknown flag '\(flag)'; use i, m or s"
        case .badGroupName:
            "a group name must be a letter or '_', followed by letters, digits, '_' or '-', and end with '>'"
        case .duplicateGroupName(let name): "the group name '\(name)' is used twice"
        case .tooManyGroups(let limit): "the pattern has more than \(limit) named groups"
        case .nothingToRepeat:
            #"there is nothing to repeat before this quantifier; escape a literal character with '\'"#
        case .repeatedTwice: "a quantifier can't follow another; enclose the first one and its operand in (?:…)"
        case .noRepeatMinimum: #"this repetition has no minimum; write '{0,n}' for "up to n""#
        case .repeatBoundsReversed(let low, let high): "the bounds of '{\(low),\(high)}' are in the wrong order"
        case .rangeReversed: "the bounds of this range are in the wrong order"
        case .badRangeEnd: #"a range must go from one byte to another; put a literal '-' first or last, or write '\-'"#
        case .nonASCIIInNegatedClass:
            "a negated class can contain only single bytes, but this character has several bytes in UTF-8"
        case .unknownPOSIXClass(let name): "unknown class '[:\(name):]'"
        case .backreference: Self.unsupported("backreferences")
        case .lookaround: Self.unsupported("lookahead and lookbehind")
        case .possessive: Self.unsupported("possessive quantifiers")
        case .atomicGroup: Self.unsupported("atomic groups")
        case .conditional: Self.unsupported("conditional groups")
        case .nestedTooDeep(let limit): "groups are nested more than \(limit) levels deep"
        case .tooLarge(let limit):
            "the pattern is too large: with its repetitions expanded, it has more than \(limit) instructions"
        }
    }

    private static func unsupported(_ what: String) -> String {
        "\(what) are not supported, because a pattern must match in time linear in the input"
    }
}
