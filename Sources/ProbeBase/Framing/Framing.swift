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

    /// The length that stands before a unit; nil for the other framings.
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
    /// How many bytes a unit is on the wire.
    package func length(of payload: [UInt8]) -> Int {
        if let terminator { return payload.count + terminator.count }
        guard let prefix else { return payload.count }
        return payload.count + (prefix.width ?? IntegerFormat.varint(UInt64(payload.count)).count)
    }
}
