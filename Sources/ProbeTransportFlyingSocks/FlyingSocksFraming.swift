import ProbeBase
import ProbeTransport

/// The framings that can be built on FlyingSocks' reads.
enum FlyingSocksFraming: Sendable {
    case line(terminator: [UInt8])
    /// Each message is preceded by its big-endian length, which is `width` bytes long.
    case counted(width: Int)
    case data

    /// The framings that ``init(_:)`` accepts.
    static let offered = Set(Framing.allCases.filter { (try? FlyingSocksFraming($0)) != nil })

    /// Creates a framing.
    ///
    /// - Throws: `unsupported` for a framing that is not in ``offered``.
    init(_ framing: Framing) throws(TransportError) {
        switch framing.kind {
        case .lines(let terminator) where framing != .delimiter(terminator): self = .line(terminator: terminator)
        case .counted(.integer(let format)):
            guard let width = format.width, !format.isLittleEndian else { throw .unsupported }
            self = .counted(width: width)
        case .undivided: self = .data
        case .lines, .counted, .webSocket: throw .unsupported
        }
    }

    /// Returns the bytes to write for a message. FlyingSocks has no framing, so the terminator or the length is added
    /// here.
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
