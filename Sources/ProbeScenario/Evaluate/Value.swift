package import ProbeRegex

/// The value of a variable or an expression at run time.
package enum Value: Sendable, Equatable {
    case bytes([UInt8])
    case integer(Int)
    /// An integer from 2^63 to 2^64 - 1: it can be compared, encoded and written, but not used in arithmetic.
    case unsigned(UInt64)
    /// The result of `cuts()`: bytes with the places where they are cut. Unless the value is the whole operand of
    /// `send`, it is treated as plain bytes.
    case pieces([[UInt8]])
    /// A regex from a cell of a table.
    case regex(ByteRegex)

    package init(_ integer: UInt64) {
        self = Int(exactly: integer).map(Value.integer) ?? .unsigned(integer)
    }

    /// The integer as a high part and a low part, which can be compared in this order; `nil` if the value is not an
    /// integer.
    package var order: (high: Int, low: UInt64)? {
        switch self {
        case .integer(let value): (value < 0 ? -1 : 0, UInt64(bitPattern: Int64(value)))
        case .unsigned(let value): (0, value)
        case .bytes, .pieces, .regex: nil
        }
    }

    /// The bytes of the value; an integer becomes its decimal text. `nil` for a regex.
    package var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .integer(let value): Array(String(value).utf8)
        case .unsigned(let value): Array(String(value).utf8)
        case .pieces(let pieces): pieces.whole
        case .regex: nil
        }
    }

    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.bytes(let a), .bytes(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.pieces(let a), .pieces(let b)): a == b
        case (.regex(let a), .regex(let b)): a == b
        default: false
        }
    }
}

extension [[UInt8]] {
    /// The concatenation of all arrays. Each array is copied in a single operation, because `joined` copies byte by
    /// byte.
    package var whole: [UInt8] {
        if count == 1 { return self[0] }
        var result: [UInt8] = []
        result.reserveCapacity(reduce(0) { $0 + $1.count })
        for piece in self { result += piece }
        return result
    }
}
