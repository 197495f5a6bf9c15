import ProbeBase
import ProbeTransport

/// The framings that can be built on FlyingSocks' reads.
enum FlyingSocksFraming: Sendable {
    case line(terminator: [UInt8])
    /// A big-endian length of this many bytes before each message.
    case counted(width: Int)
    case data

    /// The framings that the initializer accepts; it throws for the others.
    static let offered = Set(Framing.allCases.filter { (try? FlyingSocksFraming($0)) != nil })

    /// Creates a framing.
    ///
    /// - Throws: `unsupported`.
    init(_ framing: Framing) throws(TransportError) {
        self =
            switch framing {
            case .crlf: .line(terminator: [13, 10])
            case .lf: .line(terminator: [10])
            case .cr: .line(terminator: [13])
            case .nul: .line(terminator: [0])
            case .u8: .counted(width: 1)
            case .u16: .counted(width: 2)
            case .u24: .counted(width: 3)
            case .u32: .counted(width: 4)
            case .u64: .counted(width: 8)
            case .none: .data
            case .u16le, .u32le, .varint, .netstring, .delimiter, .websocket: throw .unsupported
            }
    }

    /// Returns the bytes of a message. FlyingSocks has no framing: the terminator is appended.
    ///
    /// - Throws: `invalid` if the message is too long for its length prefix.
    func encode(_ message: [UInt8]) throws(TransportError) -> [UInt8] {
        switch self {
        case .line(let terminator): return message + terminator
        case .counted(let width):
            guard width == 8 || message.count < 1 << (8 * width) else { throw .invalid }
            let length = UInt64(message.count)
            return (0..<width).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * (width - 1 - $0))) } + message
        case .data: return message
        }
    }
}
