/// What an escape stands for.
enum RegexEscape {
    case byte(UInt8)
    /// More than one byte: a character that is not ASCII.
    case bytes([UInt8])
    case set(ByteSet)
    case assertion(RegexAssertion)
}

extension RegexParser {
    /// `\` and what follows, outside a class.
    mutating func escape() throws(RegexSyntaxError) -> RegexNode {
        switch try escapeValue(inClass: false) {
        case .byte(let byte): literal(byte)
        case .bytes(let bytes): .literal(bytes)
        case .set(let set): .set(set)
        case .assertion(let assertion): .assertion(assertion)
        }
    }

    /// `[…]`. A member that is several bytes in UTF-8 becomes a branch of its own, tried before the single bytes.
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

    /// A `-` that is neither the class's last member nor its first comes next.
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

    /// `[:alpha:]`, `[:^alpha:]`; nil, and nothing taken, when the `[` is a literal one.
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
