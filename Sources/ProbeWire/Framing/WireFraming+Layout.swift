extension WireFraming {
    /// What ends a unit; nil for a framing by length, and for `none`.
    package var terminator: [UInt8]? {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .cr: [0x0D]
        case .nul: [0x00]
        case .u8, .u16, .u32, .u64, .varint, .none: nil
        }
    }

    /// Bytes of the big-endian length before a unit; nil where there is none, or none of a fixed width.
    package var prefixWidth: Int? {
        switch self {
        case .u8: 1
        case .u16: 2
        case .u32: 4
        case .u64: 8
        case .crlf, .lf, .cr, .nul, .varint, .none: nil
        }
    }
}
