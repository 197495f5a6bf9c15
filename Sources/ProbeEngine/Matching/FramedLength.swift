import ProbeBase
import ProbeScenario

/// How many bytes a subject's message is on the wire.
enum FramedLength {
    static func of(_ message: [UInt8], framing: Framing) -> Int {
        if let terminator = UnitScan.terminator(of: framing) { return message.count + terminator.count }
        switch framing {
        case .u8: return message.count + 1
        case .u16: return message.count + 2
        case .u32: return message.count + 4
        case .u64: return message.count + 8
        case .varint: return message.count + varintWidth(message.count)
        default: return message.count
        }
    }

    private static func varintWidth(_ value: Int) -> Int {
        var width = 1
        var rest = value >> 7
        while rest > 0 {
            width += 1
            rest >>= 7
        }
        return width
    }
}
