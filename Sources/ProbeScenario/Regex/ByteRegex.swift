/// A regular expression over bytes, matched in time linear in the input: O(pattern × input), whatever both are.
///
/// It never traps, on any pattern or input. Priorities are those of Perl, Python and RE2: the leftmost match, and of
/// those the one that a backtracking engine finds first. There are no backreferences and no lookaround, as these have no
/// linear time.
///
/// - A pattern is UTF-8; a character that is not ASCII matches its UTF-8 bytes, and a quantifier behind it repeats the
///   whole character. `\xHH` is one byte. All else is about single bytes, and letters and cases are those of ASCII.
/// - `.` is any byte but LF; with `(?s)` any byte.
/// - `^`, `\A` and `$`, `\z` are the start and the end of the input (no LF is skipped at the end); with `(?m)`, `^` and
///   `$` also stand behind and before each LF.
/// - `(…)` groups and binds nothing; `(?<name>…)` and `(?P<name>…)` bind what they matched last.
/// - A round of a loop that takes no byte ends the loop. Where the loop's body has several ways of taking none, engines
///   differ in what a group in it holds at the end; here it is as in RE2.
/// - A `{` that opens no `{n}`, `{n,}`, `{n,m}` is a literal one.
package struct ByteRegex: Sendable {
    /// The pattern as written.
    package let source: String
    /// The letters of ASCII match in both cases (the flag of the literal; `(?i)` is part of the source).
    package let ignoresCase: Bool
    /// Of the named groups, in order of appearance.
    package let groupNames: [String]

    private let program: RegexProgram
    /// The most bytes that a match can have; nil where there is no bound.
    package let longestMatch: Int?

    /// - Throws: `RegexSyntaxError` with the first thing that is wrong in the pattern.
    package init(_ pattern: String, ignoresCase: Bool = false) throws(RegexSyntaxError) {
        try self.init(source: pattern, bytes: Array(pattern.utf8), ignoresCase: ignoresCase)
    }

    /// - Throws: `RegexSyntaxError` with the first thing that is wrong in the pattern, which may be that it is no UTF-8.
    package init(bytes: [UInt8], ignoresCase: Bool = false) throws(RegexSyntaxError) {
        guard let source = String(validating: bytes, as: UTF8.self) else {
            throw RegexSyntaxError(.notUTF8, offset: Self.validPrefix(bytes))
        }
        try self.init(source: source, bytes: bytes, ignoresCase: ignoresCase)
    }

    private init(source: String, bytes: [UInt8], ignoresCase: Bool) throws(RegexSyntaxError) {
        var parser = RegexParser(bytes, ignoresCase: ignoresCase)
        let node = try parser.parse()
        guard node.size < RegexProgram.sizeLimit else {
            throw RegexSyntaxError(.tooLarge(limit: RegexProgram.sizeLimit), offset: 0)
        }
        self.source = source
        self.ignoresCase = ignoresCase
        groupNames = parser.groupNames
        program = RegexProgram(node, groupCount: parser.groupNames.count)
        longestMatch = node.longest
    }

    /// How many bytes at the start are whole characters.
    private static func validPrefix(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    /// The first match that starts at `start` or behind it; nil when there is none.
    ///
    /// Bytes before `start` are not matched, but they count for `^`, `(?m)^` and `\b`.
    package func firstMatch(in input: borrowing Span<UInt8>, from start: Int = 0) -> Match? {
        var steps = 0
        return firstMatch(in: input, from: start, steps: &steps)
    }

    /// The first match, with the work that it took added to `steps`: at most one for each instruction and byte.
    package func firstMatch(in input: borrowing Span<UInt8>, from start: Int = 0, steps: inout Int) -> Match? {
        guard start >= 0 else { return nil }
        var machine = RegexMachine(program, capturing: true)
        let found = machine.search(input, from: start)
        steps += machine.steps
        guard let (slots, end) = found else { return nil }
        let groups = groupNames.indices.map { number in
            let bounds = (slots[2 * number + 1], slots[2 * number + 2])
            let range = bounds.0 >= 0 && bounds.0 <= bounds.1 ? bounds.0..<bounds.1 : nil
            return Match.Group(name: groupNames[number], range: range)
        }
        return Match(range: slots[0]..<end, groups: groups)
    }

    /// The first match; its ranges are indices of the array.
    package func firstMatch(in input: [UInt8], from start: Int = 0) -> Match? {
        firstMatch(in: input.span, from: start)
    }

    /// The first match; its ranges are indices of the slice (and so of the array that it was cut from). Bytes outside the
    /// slice do not exist for it.
    package func firstMatch(in input: ArraySlice<UInt8>) -> Match? {
        firstMatch(in: input.span)?.shifted(by: input.startIndex)
    }

    /// Whether there is a match: cheaper than to look where.
    package func containsMatch(in input: borrowing Span<UInt8>) -> Bool {
        var machine = RegexMachine(program, capturing: false)
        return machine.search(input, from: 0) != nil
    }

    package func containsMatch(in input: [UInt8]) -> Bool { containsMatch(in: input.span) }

    package func containsMatch(in input: ArraySlice<UInt8>) -> Bool { containsMatch(in: input.span) }
}

extension ByteRegex: Equatable {
    package static func == (left: ByteRegex, right: ByteRegex) -> Bool {
        left.source == right.source && left.ignoresCase == right.ignoresCase
    }
}

extension ByteRegex {
    /// A pattern, in ASCII, that matches exactly these bytes: letters, digits and `_` as they are, all else as `\xHH` or,
    /// where it is printable, with a `\` before it.
    package static func quoting(_ bytes: some Sequence<UInt8>) -> String {
        var pattern = ""
        for byte in bytes {
            switch byte {
            case _ where ByteSet.word.contains(byte): pattern.unicodeScalars.append(UnicodeScalar(byte))
            case 0x21...0x7E:
                pattern += "\\"
                pattern.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16)
                pattern += digits.count < 2 ? "\\x0" : "\\x"
                pattern += digits
            }
        }
        return pattern
    }
}

extension ByteRegex {
    /// Where a pattern matched.
    package struct Match: Sendable, Equatable {
        package struct Group: Sendable, Equatable {
            package let name: String
            /// nil when the match did not pass through the group.
            package let range: Range<Int>?
        }

        /// Of the input's indices.
        package let range: Range<Int>
        /// The named groups, in order of appearance.
        package let groups: [Group]

        /// Where the group of this name matched; nil when it did not, or when there is no such group.
        package subscript(name: String) -> Range<Int>? {
            groups.first { $0.name == name }?.range
        }

        func shifted(by distance: Int) -> Match {
            func shift(_ range: Range<Int>) -> Range<Int> {
                (range.lowerBound + distance)..<(range.upperBound + distance)
            }
            return Match(
                range: shift(range), groups: groups.map { Group(name: $0.name, range: $0.range.map(shift)) }
            )
        }
    }
}
