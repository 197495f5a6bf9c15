import ProbeEvents
import ProbeScenario

/// Cuts what a `send` says into the pieces that are to leave as segments of their own.
enum SendPieces {
    /// - Returns: at least one piece; none is empty unless all is.
    static func compute(
        _ statement: SendStatement, framing: Framing,
        value: (Expression) throws(Finding) -> Value, integer: (Expression) throws(Finding) -> Int
    ) throws(Finding) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for expression in statement.pieces {
            let value = try value(expression)
            if case .pieces(let cut) = value, statement.pieces.count == 1 {
                pieces += cut
            } else if let bytes = value.bytes {
                pieces.append(bytes)
            } else {
                throw Finding(.error, at: expression.span, "a regex can't be sent")
            }
        }
        if statement.mode == .line {
            guard let terminator = UnitScan.terminator(of: framing) else {
                throw Finding(
                    .error, "`send line` needs a framing of lines; it is \(framing.rawValue) here",
                    hints: ["`sized(…)` makes a length prefix"])
            }
            pieces[pieces.count - 1] += terminator
        }
        let bytes = Array(pieces.joined())
        var offsets: Set<Int> = []
        var end = 0
        for piece in pieces {
            end += piece.count
            offsets.insert(end)
        }
        switch statement.cut {
        case nil: break
        case .at(let expressions):
            for expression in expressions {
                let offset = try integer(expression)
                guard offset >= 0 && offset <= bytes.count else {
                    throw Finding(
                        .error, at: expression.span, "the cut at \(offset) is past the end: there are \(bytes.count) bytes")
                }
                offsets.insert(offset)
            }
        case .inPieces(let size):
            let size = try integer(size)
            if size < 1 { throw Finding(.error, "pieces of \(size) bytes can't be made") }
            offsets.formUnion(stride(from: size, to: bytes.count, by: size))
        case .random(let seed):
            offsets.formUnion(randomOffsets(count: bytes.count, seed: UInt64(bitPattern: Int64(try integer(seed)))))
        }
        return cut(bytes, at: offsets)
    }

    /// Cuts at the offsets; those that would make an empty piece make none.
    static func cut(_ bytes: [UInt8], at offsets: Set<Int>) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        for offset in offsets.sorted() where offset > start && offset < bytes.count {
            pieces.append(Array(bytes[start..<offset]))
            start = offset
        }
        pieces.append(Array(bytes[start...]))
        return pieces
    }

    /// One to sixteen places, the same for the same seed and length: SplitMix64 (Steele, Lea and Flood, 2014).
    static func randomOffsets(count: Int, seed: UInt64) -> Set<Int> {
        if count < 2 { return [] }
        var state = seed
        func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
        let places = 1 + Int(next() % UInt64(min(count - 1, 16)))
        var offsets: Set<Int> = []
        while offsets.count < places { offsets.insert(1 + Int(next() % UInt64(count - 1))) }
        return offsets
    }
}
