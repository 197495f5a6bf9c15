import ProbeBase
import NIOCore
import NIOExtras
import ProbeTransport

/// NIOExtras' framing where it has one: `LineBasedFrameDecoder`, `LengthFieldBasedFrameDecoder` and `LengthFieldPrepender`.
///
/// For lines it has a decoder and nothing that writes a terminator: that is put behind the message as it is, as users of NIO do.
struct NIOFraming: Sendable {
    private enum Kind: Sendable {
        case line(terminator: [UInt8])
        case counted(LengthFieldPrepender.ByteLength, width: Int)
        case data
    }

    private let kind: Kind

    /// - Throws: `unsupported` where NIOExtras has no such framing.
    init(_ framing: Framing) throws(TransportError) {
        kind =
            switch framing {
            case .crlf: .line(terminator: [13, 10])
            case .lf: .line(terminator: [10])
            case .u8: .counted(.one, width: 1)
            case .u16: .counted(.two, width: 2)
            case .u32: .counted(.four, width: 4)
            case .u64: .counted(.eight, width: 8)
            case .none: .data
            case .cr, .nul, .varint, .websocket: throw .unsupported
            }
    }

    /// Puts the framing's handlers at the end of a channel's pipeline; called on its event loop.
    func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        switch kind {
        case .line:
            try pipeline.addHandler(ByteToMessageHandler(LineBasedFrameDecoder()))
        case .counted(let length, _):
            try pipeline.addHandler(
                ByteToMessageHandler(LengthFieldBasedFrameDecoder(lengthFieldLength: Self.same(length))))
            try pipeline.addHandler(LengthFieldPrepender(lengthFieldLength: length))
        case .data: break
        }
    }

    /// What is to be written into the pipeline for a message.
    ///
    /// - Throws: `invalid` where it is too long for its length: `LengthFieldPrepender` says so too, by failing the write's promise, but
    ///   then `send` has returned.
    func encode(_ message: [UInt8]) throws(TransportError) -> ByteBuffer {
        switch kind {
        case .line(let terminator): return ByteBuffer(bytes: message + terminator)
        case .counted(_, let width):
            guard width == 8 || message.count < 1 << (8 * width) else { throw .invalid }
            return ByteBuffer(bytes: message)
        case .data: return ByteBuffer(bytes: message)
        }
    }

    /// What the pipeline writes before a message.
    var prefixCount: Int {
        if case .counted(_, let width) = kind { width } else { 0 }
    }

    func event(_ content: ByteBuffer) -> TransportEvent {
        let bytes = Array(content.readableBytesView)
        return switch kind {
        case .line: .line(bytes)
        case .counted: .message(bytes)
        case .data: .data(bytes)
        }
    }

    /// The decoder and the prepender have a type of their own for the same four lengths.
    private static func same(_ length: LengthFieldPrepender.ByteLength) -> LengthFieldBasedFrameDecoder.ByteLength {
        switch length {
        case .one: .one
        case .two: .two
        case .four: .four
        case .eight: .eight
        }
    }
}
