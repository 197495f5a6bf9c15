/// How a stream of bytes is divided into units: by a terminator after each, or by a length before each.
public enum Framing: String, Sendable, CaseIterable {
    case crlf, lf, cr, nul, u8, u16, u32, u64, varint, websocket, none
}

extension Framing {
    /// The bytes that end a unit; nil for a framing by length, and for `websocket` and `none`.
    package var terminator: [UInt8]? {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .cr: [0x0D]
        case .nul: [0x00]
        case .u8, .u16, .u32, .u64, .varint, .websocket, .none: nil
        }
    }

    /// The number of bytes of the big-endian length before a unit; nil if there is none of a fixed width.
    package var prefixWidth: Int? {
        switch self {
        case .u8: 1
        case .u16: 2
        case .u32: 4
        case .u64: 8
        case .crlf, .lf, .cr, .nul, .varint, .websocket, .none: nil
        }
    }

    /// The encoding of the length before a unit; nil for the other framings.
    package var prefix: IntegerFormat? {
        switch self {
        case .u8: .u8
        case .u16: .u16
        case .u32: .u32
        case .u64: .u64
        case .varint: .varint
        case .crlf, .lf, .cr, .nul, .websocket, .none: nil
        }
    }
}
