extension RegexSyntaxError: CustomStringConvertible {
    package var description: String { "\(message) (at byte \(offset) of the pattern)" }

    /// One line that says what is wrong and, where there is one way out, names it. Without the position.
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
