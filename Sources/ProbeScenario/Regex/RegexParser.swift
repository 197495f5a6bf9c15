/// Reads a pattern. It never traps, and its recursion is bounded by `RegexParser.depthLimit`.
struct RegexParser {
    static let depthLimit = 100
    static let groupLimit = 64

    struct Flags: Sendable {
        var ignoresCase = false
        /// `m`: `^` and `$` match at each line of the input.
        var isMultiline = false
        /// `s`: `.` matches LF too.
        var dotMatchesNewline = false
    }

    /// Valid UTF-8.
    let pattern: [UInt8]
    var position = 0
    var flags: Flags
    /// In order of appearance.
    var groupNames: [String] = []
    private var depth = 0

    init(_ pattern: [UInt8], ignoresCase: Bool) {
        self.pattern = pattern
        flags = Flags(ignoresCase: ignoresCase)
    }

    /// The whole pattern.
    mutating func parse() throws(RegexSyntaxError) -> RegexNode {
        let node = try alternation()
        guard position == pattern.count else { throw error(.unopenedGroup) }
        return node
    }

    func error(_ kind: RegexSyntaxError.Kind, at offset: Int? = nil) -> RegexSyntaxError {
        RegexSyntaxError(kind, offset: min(offset ?? position, pattern.count))
    }

    /// The byte at the position, or further on; nil behind the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        let index = position + distance
        return index < pattern.count ? pattern[index] : nil
    }

    /// Steps over this text if it is next.
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

    /// nil for flags like `(?i)`, which are no part of the match.
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

    /// `{n}`, `{n,}` or `{n,m}`; nil, and nothing taken, when what is next is a literal `{`.
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

    /// A decimal number; 1,000,000 stands for all that are greater. nil when no digit is next.
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

    /// One byte, in both cases where the flag says so.
    func literal(_ byte: UInt8) -> RegexNode {
        .set(flags.ignoresCase ? ByteSet(byte).caseFolded : ByteSet(byte))
    }

    /// The UTF-8 of the character at the position, which is stepped over.
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
