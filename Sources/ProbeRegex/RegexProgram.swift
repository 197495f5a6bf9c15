/// The instructions of a compiled pattern.
struct RegexProgram: Sendable {
    /// The maximum number of instructions. This limit and `RegexParser.groupLimit` bound the memory that a match needs.
    static let sizeLimit = 32_768

    enum Instruction: Sendable, Equatable {
        case byte(UInt8)
        /// An index into `sets`.
        case set(Int)
        case assertion(RegexAssertion)
        /// Continues at both instructions, and prefers the first instruction.
        case split(Int, Int)
        case jump(Int)
        /// Stores the current position in the given slot.
        case save(Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [ByteSet] = []
    /// The number of slots. Slot 0 holds the start of the match, and group g has the slots 2g + 1 and 2g + 2.
    let slotCount: Int
    /// Whether every match starts at the start of the input.
    private(set) var isAnchored = false
    /// The bytes that a match can start with; `nil` if a match may be empty.
    private(set) var firstBytes: ByteSet?
    /// The byte with which every match begins; `nil` if matches may begin with different bytes.
    private(set) var onlyFirstByte: UInt8?

    private var setIndices: [ByteSet: Int] = [:]

    init(_ node: RegexNode, groupCount: Int) {
        slotCount = 1 + 2 * groupCount
        emit(node)
        instructions.append(.match)
        setIndices = [:]
        findStart()
    }

    private mutating func emit(_ node: RegexNode) {
        switch node.shape {
        case .empty: break
        case .byte(let byte): instructions.append(.byte(byte))
        case .set(let set): instructions.append(.set(index(of: set)))
        case .assertion(let assertion): instructions.append(.assertion(assertion))
        case .sequence(let nodes):
            for node in nodes { emit(node) }
        case .alternation(let nodes): emitAlternation(nodes)
        case .group(let number, let node):
            instructions.append(.save(2 * number + 1))
            emit(node)
            instructions.append(.save(2 * number + 2))
        case .repetition(let node, let minimum, let maximum, let isLazy):
            emitRepetition(node, minimum: minimum, maximum: maximum, isLazy: isLazy)
        }
    }

    private mutating func index(of set: ByteSet) -> Int {
        if let known = setIndices[set] { return known }
        sets.append(set)
        setIndices[set] = sets.count - 1
        return sets.count - 1
    }

    private mutating func emitAlternation(_ nodes: [RegexNode]) {
        var jumps: [Int] = []
        for node in nodes.dropLast() {
            let split = reserve()
            emit(node)
            jumps.append(reserve())
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = nodes.last { emit(last) }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func emitRepetition(_ node: RegexNode, minimum: Int, maximum: Int?, isLazy: Bool) {
        guard let maximum else {
            if minimum == 0 {
                emitStar(node, isLazy: isLazy)
            } else {
                for _ in 1..<minimum { emit(node) }
                emitPlus(node, isLazy: isLazy)
            }
            return
        }
        for _ in 0..<minimum { emit(node) }
        // `x{0,2}` is compiled as `(?:x(?:x)?)?`, in which each optional copy can branch to the end.
        var splits: [Int] = []
        for _ in minimum..<max(minimum, maximum) {
            splits.append(reserve())
            emit(node)
        }
        for split in splits { instructions[split] = Self.split(split + 1, instructions.count, isLazy) }
    }

    private mutating func emitPlus(_ node: RegexNode, isLazy: Bool) {
        let start = instructions.count
        emit(node)
        let split = reserve()
        instructions[split] = Self.split(start, split + 1, isLazy)
    }

    private mutating func emitStar(_ node: RegexNode, isLazy: Bool) {
        let split = reserve()
        if node.isNullable {
            // If x can match the empty string, `x*` is compiled as `(?:x+)?`. In the plain loop, an iteration of x that
            // consumes no byte would return to a split that has already been visited at this position. The thread would
            // end at the split, although it must continue after the loop with the priority of x.
            emitPlus(node, isLazy: isLazy)
        } else {
            emit(node)
            instructions.append(.jump(split))
        }
        instructions[split] = Self.split(split + 1, instructions.count, isLazy)
    }

    private mutating func reserve() -> Int {
        instructions.append(.match)
        return instructions.count - 1
    }

    private static func split(_ body: Int, _ exit: Int, _ isLazy: Bool) -> Instruction {
        isLazy ? .split(exit, body) : .split(body, exit)
    }

    /// Visits all instructions that are reachable without consuming a byte, in two passes. The first pass treats every
    /// assertion as true; the second pass stops at `inputStart`.
    private mutating func findStart() {
        var first = ByteSet()
        var canBeEmpty = false
        visitStart(stopsAtInputStart: false) { instruction in
            switch instruction {
            case .byte(let byte): first.insert(byte)
            case .set(let index): first.formUnion(sets[index])
            default: canBeEmpty = true
            }
        }
        var isAnchored = true
        visitStart(stopsAtInputStart: true) { _ in isAnchored = false }
        self.isAnchored = isAnchored
        firstBytes = canBeEmpty ? nil : first
        onlyFirstByte = firstBytes?.onlyMember
    }

    /// Calls the closure for each instruction that either consumes a byte or ends a match, and is reachable from the
    /// program's first instruction without consuming a byte.
    private func visitStart(stopsAtInputStart: Bool, _ body: (Instruction) -> Void) {
        var isSeen = [Bool](repeating: false, count: instructions.count)
        var pending = [0]
        while let index = pending.popLast() {
            guard !isSeen[index] else { continue }
            isSeen[index] = true
            switch instructions[index] {
            case .assertion(.inputStart) where stopsAtInputStart: break
            case .assertion, .save: pending.append(index + 1)
            case .jump(let target): pending.append(target)
            case .split(let first, let second):
                pending.append(first)
                pending.append(second)
            case .byte, .set, .match: body(instructions[index])
            }
        }
    }
}
