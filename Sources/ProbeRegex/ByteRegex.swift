/// A regular expression over bytes, matched in linear time: O(pattern × input) for every pattern and input.
///
/// Parsing and matching never trap. Priorities are the same as in Perl, Python and RE2: the result is the leftmost
/// match and, among the matches that start there, the one that a backtracking engine finds first. Backreferences and
/// lookaround are not supported, because they can't be matched in linear time.
///
/// - A pattern is UTF-8. A non-ASCII character matches its UTF-8 bytes, and a quantifier after it repeats the whole
///   character. `\xHH` is one byte. Everything else matches single bytes; letters and case are ASCII only.
/// - `.` matches any byte except LF; with `(?s)`, it matches any byte.
/// - `^` and `\A` match at the start of the input, and `$` and `\z` match at the end of the input (a final LF is not
///   skipped). With `(?m)`, `^` also matches after each LF, and `$` before each LF.
/// - `(…)` groups without binding a name; `(?<name>…)` and `(?P<name>…)` bind their last match.
/// - An iteration of a loop that matches no byte ends the loop. If the loop's body can match the empty string in
///   several ways, engines differ in the final value of a group inside the body; this engine sets the same value as
///   RE2.
/// - A `{` that does not begin `{n}`, `{n,}` or `{n,m}` is literal.
package struct ByteRegex: Sendable {
    /// The pattern as written.
    package let source: String
    /// Whether case is ignored for ASCII letters because the literal has the flag `i`. In contrast, the flag `(?i)` is
    /// part of the source.
    package let ignoresCase: Bool
    /// The names of the groups, in order of appearance.
    package let groupNames: [String]

    private let program: RegexProgram
    /// The maximum number of bytes in a match; `nil` if a match may have any length.
    package let longestMatch: Int?

    /// Compiles a pattern.
    ///
    /// - Throws: `RegexSyntaxError` with the first error in the pattern.
    package init(_ pattern: String, ignoresCase: Bool = false) throws(RegexSyntaxError) {
        try self.init(source: pattern, bytes: Array(pattern.utf8), ignoresCase: ignoresCase)
    }

    /// Compiles a pattern given as bytes.
    ///
    /// - Throws: `RegexSyntaxError` with the first error in the pattern, for example that the bytes are not UTF-8.
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

    /// Returns the number of leading bytes that form complete UTF-8 characters.
    private static func validPrefix(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var count = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }

    /// Returns the first match that starts at or after `start`; `nil` if there is none.
    ///
    /// Bytes before `start` are not matched, but `^`, `(?m)^` and `\b` take them into account.
    package func firstMatch(in input: borrowing Span<UInt8>, from start: Int = 0) -> Match? {
        var steps = 0
        return firstMatch(in: input, from: start, steps: &steps)
    }

    /// Returns the first match, and adds the number of steps of the search to `steps`. The search takes at most one
    /// step per instruction and byte.
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

    /// Returns the first match, with ranges that are indices of the array.
    package func firstMatch(in input: [UInt8], from start: Int = 0) -> Match? {
        firstMatch(in: input.span, from: start)
    }

    /// Returns the first match, with ranges that are indices of the slice and therefore also of the array it was taken
    /// from. Bytes outside the slice are ignored.
    package func firstMatch(in input: ArraySlice<UInt8>) -> Match? {
        firstMatch(in: input.span)?.shifted(by: input.startIndex)
    }

    /// Returns whether there is a match. This check is cheaper than determining the range of the match.
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
    /// Returns an ASCII pattern that matches exactly the given bytes. Letters, digits and `_` are unchanged, other
    /// printable characters are preceded by `\`, and all other bytes are written as `\xHH`.
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
    /// A match of a pattern.
    package struct Match: Sendable, Equatable {
        package struct Group: Sendable, Equatable {
            package let name: String
            /// The range of the group; `nil` if the group did not participate in the match.
            package let range: Range<Int>?
        }

        /// The range of the match, in indices of the input.
        package let range: Range<Int>
        /// The named groups, in order of appearance.
        package let groups: [Group]

        /// Returns the range of the group with the given name; `nil` if the group did not match or does not exist.
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
