/// An error in a pattern, and its place.
package struct RegexSyntaxError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The bytes of the pattern are not UTF-8.
        case notUTF8
        /// A `(` or a `[` that is never closed; the offset is that of the opening character.
        case unclosedGroup, unclosedClass
        /// A `)` without a matching `(`.
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

    /// A one-line description, without the position; it includes the fix if there is only one.
    package var message: String {
        switch kind {
        case .notUTF8: #"the pattern is not UTF-8; write a byte as \xHH"#
        case .unclosedGroup: "this '(' has no matching ')'"
        case .unclosedClass: "this '[' has no matching ']' (a ']' directly after '[' or '[^' is a member of the class)"
        case .unopenedGroup: #"this ')' has no matching '('; write a literal one as '\)'"#
        case .danglingEscape: #"the pattern ends with a single '\'; write a literal one as '\\'"#
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
        case .nothingToRepeat: #"there is nothing to repeat before this quantifier; escape a literal one with '\'"#
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
