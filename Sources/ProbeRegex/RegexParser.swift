/// Parses a pattern. The parser never traps, and `RegexParser.depthLimit` limits its recursion.
struct RegexParser {
    static let depthLimit = 100
    static let groupLimit = 64

    struct Flags: Sendable {
        var ignoresCase = false
        /// The flag `m`: `^` and `$` also match at the start and the end of each line.
        var isMultiline = false
        /// The flag `s`: `.` also matches LF.
        var dotMatchesNewline = false
    }

    /// The pattern, which must be valid UTF-8.
    let pattern: [UInt8]
    var position = 0
    var flags: Flags
    /// The names of the groups, in order of appearance.
    var groupNames: [String] = []
    private var depth = 0

    init(_ pattern: [UInt8], ignoresCase: Bool) {
        self.pattern = pattern
        flags = Flags(ignoresCase: ignoresCase)
    }

    /// Parses the whole pattern.
    mutating func parse() throws(RegexSyntaxError) -> RegexNode {
        let node = try alternation()
        guard position == pattern.count else { throw error(.unopenedGroup) }
        return node
    }

    func error(_ kind: RegexSyntaxError.Kind, at offset: Int? = nil) -> RegexSyntaxError {
        RegexSyntaxError(kind, offset: min(offset ?? position, pattern.count))
    }

    /// Returns the byte at the current position plus a distance; `nil` at the end of the pattern.
    func peek(_ distance: Int = 0) -> UInt8? {
        let index = position + distance
        return index < pattern.count ? pattern[index] : nil
    }

    /// Consumes the given text if the pattern continues with it, and returns whether it was consumed.
    mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard pattern.count - position >= count else { return false }
        let isNext = text.withUTF8Buffer { $0.elementsEqual(pattern[position..<(position + count)]) }
        if isNext { position += count }
        return isNext
    }

    // MARK: Structure

    private mutating func alternation() throws(RegexSyntaxError) -> RegexNode {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return .alternation(branches)
    }

    private mutating func sequence() throws(RegexSyntaxError) -> RegexNode {
        var nodes: [RegexNode] = []
        var size = 0
        while let next = peek(), next != UInt8(ascii: "|"), next != UInt8(ascii: ")") {
            let start = position
            guard let node = try quantified() else { continue }
            nodes.append(node)
            size += node.size
            guard size <= RegexProgram.sizeLimit else {
                throw error(.tooLarge(limit: RegexProgram.sizeLimit), at: start)
            }
        }
        return .sequence(nodes)
    }

    /// Parses an atom with its quantifier. Returns `nil` for flags such as `(?i)`, which are not atoms.
    private mutating func quantified() throws(RegexSyntaxError) -> RegexNode? {
        let isGroup = peek() == UInt8(ascii: "(")
        guard let node = try atom() else { return nil }
        let start = position
        guard let bounds = try quantifier() else { return node }
        if case .assertion = node.shape, !isGroup { throw error(.nothingToRepeat, at: start) }
        let isLazy = take("?")
        if peek() == UInt8(ascii: "+") { throw error(.possessive, at: start) }
        let second = position
        if try quantifier() != nil { throw error(.repeatedTwice, at: second) }
        let repetition = RegexNode.repetition(
            node, minimum: bounds.minimum, maximum: bounds.maximum, isLazy: isLazy
        )
        guard repetition.size <= RegexProgram.sizeLimit else {
            throw error(.tooLarge(limit: RegexProgram.sizeLimit), at: start)
        }
        return repetition
    }

    private mutating func quantifier() throws(RegexSyntaxError) -> (minimum: Int, maximum: Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        return try braces()
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`; returns `nil` and consumes nothing if the `{` is literal.
    private mutating func braces() throws(RegexSyntaxError) -> (minimum: Int, maximum: Int?)? {
        let start = position
        guard take("{") else { return nil }
        let minimum = number()
        var maximum = minimum
        if take(",") { maximum = number() }
        let isUnbounded = pattern[position - 1] == UInt8(ascii: ",")
        guard take("}"), minimum != nil || maximum != nil else {
            position = start
            return nil
        }
        guard let minimum else { throw error(.noRepeatMinimum, at: start) }
        if isUnbounded { return (minimum, nil) }
        if let maximum, maximum < minimum { throw error(.repeatBoundsReversed(minimum, maximum), at: start) }
        return (minimum, maximum)
    }

    /// Parses a decimal number; 1,000,000 represents all greater numbers. Returns `nil` if the next byte is not a
    /// digit.
    private mutating func number() -> Int? {
        var value: Int?
        while let digit = peek(), ByteSet.digits.contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit - UInt8(ascii: "0")), 1_000_000)
            position += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws(RegexSyntaxError) -> RegexNode? {
        let start = position
        guard let byte = peek() else { return nil }
        switch byte {
        case UInt8(ascii: "("): return try group()
        case UInt8(ascii: "["): return try characterClass()
        case UInt8(ascii: "\\"): return try escape()
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): throw error(.nothingToRepeat)
        case UInt8(ascii: "{"):
            if try braces() != nil { throw error(.nothingToRepeat, at: start) }
            position += 1
            return .byte(byte)
        case UInt8(ascii: "."):
            position += 1
            return .set(flags.dotMatchesNewline ? .all : ByteSet(UInt8(ascii: "\n")).inverted)
        case UInt8(ascii: "^"):
            position += 1
            return .assertion(flags.isMultiline ? .lineStart : .inputStart)
        case UInt8(ascii: "$"):
            position += 1
            return .assertion(flags.isMultiline ? .lineEnd : .inputEnd)
        case 0..<0x80:
            position += 1
            return literal(byte)
        default:
            return .literal(takeScalar())
        }
    }

    /// Returns a node for one byte. If the `i` flag is set, the node for a letter matches both cases.
    func literal(_ byte: UInt8) -> RegexNode {
        .set(flags.ignoresCase ? ByteSet(byte).caseFolded : ByteSet(byte))
    }

    /// Consumes the character at the current position, and returns its UTF-8 bytes.
    mutating func takeScalar() -> ArraySlice<UInt8> {
        let start = position
        position += 1
        while let byte = peek(), byte & 0xC0 == 0x80 { position += 1 }
        return pattern[start..<position]
    }

    private mutating func group() throws(RegexSyntaxError) -> RegexNode? {
        let start = position
        let outerFlags = flags
        var number: Int?
        position += 1
        if take("?") {
            switch try groupKind(start) {
            case .flags: return nil
            case .plain: break
            case .named(let name):
                number = groupNames.count
                groupNames.append(name)
            }
        }
        depth += 1
        guard depth <= Self.depthLimit else { throw error(.nestedTooDeep(limit: Self.depthLimit), at: start) }
        let node = try alternation()
        depth -= 1
        guard take(")") else { throw error(.unclosedGroup, at: start) }
        flags = outerFlags
        return if let number { .group(number, node) } else { node }
    }
}

/// The meaning of an escape.
enum RegexEscape {
    case byte(UInt8)
    /// The bytes of a non-ASCII character.
    case bytes([UInt8])
    case set(ByteSet)
    case assertion(RegexAssertion)
}

extension RegexParser {
    /// Parses a `\` and the escape after it, outside a class.
    mutating func escape() throws(RegexSyntaxError) -> RegexNode {
        switch try escapeValue(inClass: false) {
        case .byte(let byte): literal(byte)
        case .bytes(let bytes): .literal(bytes)
        case .set(let set): .set(set)
        case .assertion(let assertion): .assertion(assertion)
        }
    }

    /// Parses `[…]`. A member that is encoded with several bytes becomes a separate branch, which is tried before
    /// single bytes.
    mutating func characterClass() throws(RegexSyntaxError) -> RegexNode {
        let start = position
        position += 1
        let isNegated = take("^")
        let first = position
        var set = ByteSet()
        var sequences: [[UInt8]] = []
        while let next = peek(), next != UInt8(ascii: "]") || position == first {
            let memberStart = position
            switch try classMember() {
            case .set(let members):
                set.formUnion(members)
                if isRangeNext { throw error(.badRangeEnd, at: memberStart) }
            case .bytes(let bytes):
                guard !isNegated else { throw error(.nonASCIIInNegatedClass, at: memberStart) }
                if isRangeNext { throw error(.badRangeEnd, at: memberStart) }
                if !sequences.contains(bytes) { sequences.append(bytes) }
                guard sequences.count <= RegexProgram.sizeLimit / 16 else {
                    throw error(.tooLarge(limit: RegexProgram.sizeLimit), at: memberStart)
                }
            case .byte(let low):
                guard isRangeNext else {
                    set.insert(low)
                    continue
                }
                position += 1
                let endStart = position
                guard case .byte(let high) = try classMember() else { throw error(.badRangeEnd, at: endStart) }
                guard low <= high else { throw error(.rangeReversed, at: memberStart) }
                set.formUnion(ByteSet(low...high))
            case .assertion: throw error(.badRangeEnd, at: memberStart)
            }
        }
        guard take("]") else { throw error(.unclosedClass, at: start) }
        if flags.ignoresCase { set = set.caseFolded }
        if isNegated { return .set(set.inverted) }
        let branches = sequences.map { RegexNode.literal($0) }
        return .alternation(set.count == 0 ? branches : branches + [.set(set)])
    }

    /// Whether the next byte is a `-` that is not the last member of the class.
    private var isRangeNext: Bool {
        guard peek() == UInt8(ascii: "-"), let after = peek(1) else { return false }
        return after != UInt8(ascii: "]")
    }

    private mutating func classMember() throws(RegexSyntaxError) -> RegexEscape {
        guard let byte = peek() else { throw error(.unclosedClass) }
        if byte == UInt8(ascii: "\\") { return try escapeValue(inClass: true) }
        if byte == UInt8(ascii: "["), let named = try posixClass() { return .set(named) }
        guard byte >= 0x80 else {
            position += 1
            return .byte(byte)
        }
        return .bytes(Array(takeScalar()))
    }

    /// Parses a POSIX class such as `[:alpha:]` or `[:^alpha:]`; returns `nil` and consumes nothing if the `[` is
    /// literal.
    private mutating func posixClass() throws(RegexSyntaxError) -> ByteSet? {
        let start = position
        guard take("[:") else { return nil }
        let isNegated = take("^")
        let nameStart = position
        while let byte = peek(), ByteSet.lower.contains(byte) || ByteSet.upper.contains(byte) { position += 1 }
        let name = String(decoding: pattern[nameStart..<position], as: UTF8.self)
        guard take(":]") else {
            position = start
            return nil
        }
        guard let set = ByteSet.posix(name) else { throw error(.unknownPOSIXClass(name), at: start) }
        return isNegated ? set.inverted : set
    }
}

extension RegexParser {
    /// Parses a `\` and the escape after it.
    mutating func escapeValue(inClass: Bool) throws(RegexSyntaxError) -> RegexEscape {
        let start = position
        position += 1
        guard let byte = peek() else { throw error(.danglingEscape, at: start) }
        if byte >= 0x80 {
            let character = takeScalar()
            throw error(.unknownEscape(String(decoding: character, as: UTF8.self)), at: start)
        }
        position += 1
        switch byte {
        case UInt8(ascii: "d"): return .set(.digits)
        case UInt8(ascii: "D"): return .set(ByteSet.digits.inverted)
        case UInt8(ascii: "w"): return .set(.word)
        case UInt8(ascii: "W"): return .set(ByteSet.word.inverted)
        case UInt8(ascii: "s"): return .set(.space)
        case UInt8(ascii: "S"): return .set(ByteSet.space.inverted)
        case UInt8(ascii: "r"): return .byte(0x0D)
        case UInt8(ascii: "n"): return .byte(0x0A)
        case UInt8(ascii: "t"): return .byte(0x09)
        case UInt8(ascii: "f"): return .byte(0x0C)
        case UInt8(ascii: "v"): return .byte(0x0B)
        case UInt8(ascii: "x"): return .byte(try byteEscape(start))
        case UInt8(ascii: "u"): return try scalarEscape(start)
        case UInt8(ascii: "0"):
            if let next = peek(), ByteSet.digits.contains(next) { throw error(.octalEscape, at: start) }
            return .byte(0x00)
        // In a class, `\b` is a backspace, as in C.
        case UInt8(ascii: "b"): return inClass ? .byte(0x08) : .assertion(.wordBoundary)
        case UInt8(ascii: "B") where !inClass: return .assertion(.notWordBoundary)
        case UInt8(ascii: "A") where !inClass: return .assertion(.inputStart)
        case UInt8(ascii: "z") where !inClass: return .assertion(.inputEnd)
        case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "k"), UInt8(ascii: "g"):
            throw error(inClass ? .unknownEscape(String(UnicodeScalar(byte))) : .backreference, at: start)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            throw error(.unknownEscape(String(UnicodeScalar(byte))), at: start)
        default: return .byte(byte)
        }
    }

    private mutating func byteEscape(_ start: Int) throws(RegexSyntaxError) -> UInt8 {
        guard let high = hexDigit() else { throw error(.badByteEscape, at: start) }
        guard let low = hexDigit() else { throw error(.badByteEscape, at: start) }
        return UInt8(truncatingIfNeeded: high << 4 | low)
    }

    private mutating func scalarEscape(_ start: Int) throws(RegexSyntaxError) -> RegexEscape {
        guard take("{") else { throw error(.badScalarEscape, at: start) }
        var value: UInt32 = 0
        var digits = 0
        while digits < 6, let digit = hexDigit() {
            value = value << 4 | digit
            digits += 1
        }
        guard digits > 0, take("}"), let scalar = UnicodeScalar(value) else { throw error(.badScalarEscape, at: start) }
        let bytes = Array(String(Character(scalar)).utf8)
        return bytes.count == 1 ? .byte(bytes[0]) : .bytes(bytes)
    }

    private mutating func hexDigit() -> UInt32? {
        guard let byte = peek() else { return nil }
        let value: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
        position += 1
        return UInt32(value)
    }
}

extension RegexParser {
    enum GroupKind {
        /// A group such as `(?i)`, which has been consumed; its flags apply to the rest of the enclosing group.
        case flags
        case plain
        case named(String)
    }

    /// Parses the text after `(?`, up to the content of the group.
    ///
    /// - Parameter start: the offset of the `(`.
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
            // As in names in the scenario language, a `-` must be followed by a letter or digit.
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
                // `(?P>name)`, `(?R)` and similar forms are groups in other engines, not flags.
                if position == start + 2, byte < UInt8(ascii: "a") { throw error(.unknownGroup, at: start) }
                throw error(.unknownFlag(String(UnicodeScalar(byte))))
            default: throw error(.unknownGroup, at: start)
            }
            position += 1
        }
        throw error(.unclosedGroup, at: start)
    }
}
