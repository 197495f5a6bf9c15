import ProbeBase

/// One search, performed with Pike's machine: all threads of the program advance over the input in lockstep, so each
/// instruction is visited at most once per byte, regardless of the pattern.
///
/// The order of the threads in a list is their priority: among all leftmost matches, the search returns the one that a
/// backtracking engine would find first.
struct RegexMachine {
    private struct Threads {
        var counters: [Int] = []
        /// The slots of all threads; each thread has `slotCount` slots.
        var slots: [Int] = []

        mutating func removeAll() {
            counters.removeAll(keepingCapacity: true)
            slots.removeAll(keepingCapacity: true)
        }
    }

    /// A pending task of `follow`: continuing at an instruction, or restoring the value of a slot.
    private enum Pending {
        case follow(Int)
        case restore(slot: Int, value: Int)
    }

    private let program: RegexProgram
    /// The number of slots per thread; 0 if the search only decides whether there is a match.
    private let slotCount: Int
    private var current = Threads()
    private var next = Threads()
    /// For each instruction, the last position at which it was visited, plus 1.
    private var visits: [Int]
    private var slots: [Int]
    private var pending: [Pending] = []
    /// The number of instructions visited so far, to which the elapsed time is proportional.
    private(set) var steps = 0

    init(_ program: RegexProgram, capturing: Bool) {
        self.program = program
        slotCount = capturing ? program.slotCount : 0
        visits = [Int](repeating: 0, count: program.instructions.count)
        slots = [Int](repeating: -1, count: slotCount)
    }

    /// Returns the slots and the end of the first match that starts at or after `start`; `nil` if there is none.
    mutating func search(_ input: borrowing Span<UInt8>, from start: Int) -> (slots: [Int], end: Int)? {
        var found: (slots: [Int], end: Int)?
        var position = start
        while position <= input.count {
            if current.counters.isEmpty {
                if found != nil || (program.isAnchored && position > 0) { break }
                if let only = program.onlyFirstByte {
                    guard let next = input.firstIndex(of: only, from: position) else { break }
                    position = next
                } else if let first = program.firstBytes {
                    while position < input.count, !first.contains(input[position]) { position += 1 }
                    if position == input.count { break }
                }
            }
            if found == nil, !program.isAnchored || position == 0 { addStart(at: position, input) }
            if let match = advance(over: input, at: position) {
                found = match
                if slotCount == 0 { break }
            }
            swap(&current, &next)
            next.removeAll()
            position += 1
        }
        return found
    }

    private mutating func addStart(at position: Int, _ input: borrowing Span<UInt8>) {
        for slot in slots.indices { slots[slot] = -1 }
        if slotCount > 0 { slots[0] = position }
        Self.follow(
            0, at: position, input, program, into: &current, slots: &slots, visits: &visits, pending: &pending,
            steps: &steps
        )
    }

    /// Makes each thread consume the byte at the current position. A thread that has matched ends all threads of lower
    /// priority.
    private mutating func advance(over input: borrowing Span<UInt8>, at position: Int) -> (slots: [Int], end: Int)? {
        let byte: UInt8? = position < input.count ? input[position] : nil
        for thread in current.counters.indices {
            let counter = current.counters[thread]
            let takes =
                switch program.instructions[counter] {
                case .byte(let wanted): byte == wanted
                case .set(let index): if let byte { program.sets[index].contains(byte) } else { false }
                default: false
                }
            let slotStart = thread * slotCount
            if takes {
                for slot in slots.indices { slots[slot] = current.slots[slotStart + slot] }
                Self.follow(
                    counter + 1, at: position + 1, input, program, into: &next, slots: &slots, visits: &visits,
                    pending: &pending, steps: &steps
                )
            } else if program.instructions[counter] == .match {
                return (Array(current.slots[slotStart..<(slotStart + slotCount)]), position)
            }
        }
        return nil
    }

    /// Adds the threads that are reachable from an instruction without consuming a byte, in order of priority.
    private static func follow(
        _ start: Int, at position: Int, _ input: borrowing Span<UInt8>, _ program: borrowing RegexProgram,
        into threads: inout Threads, slots: inout [Int], visits: inout [Int], pending: inout [Pending],
        steps: inout Int
    ) {
        pending.append(.follow(start))
        while let task = pending.popLast() {
            var counter: Int
            switch task {
            case .follow(let instruction): counter = instruction
            case .restore(let slot, let value):
                slots[slot] = value
                continue
            }
            thread: while visits[counter] != position + 1 {
                visits[counter] = position + 1
                steps += 1
                switch program.instructions[counter] {
                case .jump(let target): counter = target
                case .split(let first, let second):
                    pending.append(.follow(second))
                    counter = first
                case .save(let slot):
                    if slot < slots.count {
                        pending.append(.restore(slot: slot, value: slots[slot]))
                        slots[slot] = position
                    }
                    counter += 1
                case .assertion(let assertion):
                    guard holds(assertion, at: position, input) else { break thread }
                    counter += 1
                case .byte, .set, .match:
                    threads.counters.append(counter)
                    threads.slots.append(contentsOf: slots)
                    break thread
                }
            }
        }
    }

    private static func holds(_ assertion: RegexAssertion, at position: Int, _ input: borrowing Span<UInt8>) -> Bool {
        let before: UInt8? = position > 0 ? input[position - 1] : nil
        let after: UInt8? = position < input.count ? input[position] : nil
        let lineFeed = UInt8(ascii: "\n")
        switch assertion {
        case .inputStart: return before == nil
        case .inputEnd: return after == nil
        case .lineStart: return before == nil || before == lineFeed
        case .lineEnd: return after == nil || after == lineFeed
        case .wordBoundary, .notWordBoundary:
            let word = ByteSet.word
            let isBoundary = (before.map(word.contains) ?? false) != (after.map(word.contains) ?? false)
            return isBoundary == (assertion == .wordBoundary)
        }
    }
}
