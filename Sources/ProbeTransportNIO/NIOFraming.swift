import ProbeBase
import NIOCore
import NIOExtras
import ProbeTransport

/// A framing that NIOExtras' handlers implement: `LineBasedFrameDecoder`, `LengthFieldBasedFrameDecoder` and
/// `LengthFieldPrepender`.
///
/// For lines, NIOExtras has only a decoder, so the terminator is appended to the message, as users of NIO do.
struct NIOFraming: Sendable {
    private enum Kind: Sendable {
        case line(terminator: [UInt8])
        case counted(NIOLengthFieldBitLength, width: Int, Endianness)
        case data
    }

    /// The framings that ``init(_:)`` accepts.
    static let offered = Set(Framing.allCases.filter { (try? NIOFraming($0)) != nil })

    private let kind: Kind

    /// Creates a framing.
    ///
    /// - Throws: `unsupported` if NIOExtras does not implement the framing.
    init(_ framing: Framing) throws(TransportError) {
        switch framing.kind {
        case .lines(let terminator) where framing == .crlf || framing == .lf: kind = .line(terminator: terminator)
        case .counted(.integer(let format)):
            let lengths: [Int: NIOLengthFieldBitLength] = [
                1: .oneByte, 2: .twoBytes, 3: .threeBytes, 4: .fourBytes, 8: .eightBytes,
            ]
            guard let width = format.width, let length = lengths[width] else { throw .unsupported }
            kind = .counted(length, width: width, format.isLittleEndian ? .little : .big)
        case .undivided: kind = .data
        case .lines, .counted, .webSocket: throw .unsupported
        }
    }

    /// Adds the framing's handlers to the end of a channel's pipeline. Must be called on the channel's event loop.
    func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        switch kind {
        case .line:
            try pipeline.addHandler(lineDecoder())
        case .counted(let length, _, let endianness):
            try pipeline.addHandler(lengthDecoder(length, endianness))
            try pipeline.addHandler(
                LengthFieldPrepender(lengthFieldBitLength: length, lengthFieldEndianness: endianness))
        case .data: break
        }
    }

    /// Replaces the pipeline's decoder. The old decoder is removed shortly afterwards, and then passes on its buffered
    /// bytes, which the last handler of the pipeline must ignore. Must be called on the channel's event loop.
    func replaceDecoder(in pipeline: ChannelPipeline.SynchronousOperations) throws {
        switch kind {
        case .line:
            let old = try pipeline.handler(type: ByteToMessageHandler<LineBasedFrameDecoder>.self)
            try pipeline.addHandler(lineDecoder(), position: .before(old))
            pipeline.removeHandler(old, promise: nil)
        case .counted(let length, _, let endianness):
            let old = try pipeline.handler(type: ByteToMessageHandler<LengthFieldBasedFrameDecoder>.self)
            try pipeline.addHandler(lengthDecoder(length, endianness), position: .before(old))
            pipeline.removeHandler(old, promise: nil)
        case .data: break
        }
    }

    private func lineDecoder() -> ByteToMessageHandler<LineBasedFrameDecoder> {
        ByteToMessageHandler(LineBasedFrameDecoder())
    }

    private func lengthDecoder(
        _ length: NIOLengthFieldBitLength, _ endianness: Endianness
    ) -> ByteToMessageHandler<LengthFieldBasedFrameDecoder> {
        ByteToMessageHandler(
            LengthFieldBasedFrameDecoder(lengthFieldBitLength: length, lengthFieldEndianness: endianness))
    }

    /// Returns the buffer to write into the pipeline for a message.
    ///
    /// - Throws: `invalid` if the message is too long for its length prefix. `LengthFieldPrepender` would report the
    ///   error by failing the write's promise after `send` has returned.
    func encode(_ message: [UInt8]) throws(TransportError) -> ByteBuffer {
        switch kind {
        case .line(let terminator): return ByteBuffer(bytes: message + terminator)
        case .counted(_, let width, _):
            guard width == 8 || message.count < 1 << (8 * width) else { throw .invalid }
            return ByteBuffer(bytes: message)
        case .data: return ByteBuffer(bytes: message)
        }
    }

    /// The number of bytes that the pipeline adds before each message.
    var prefixCount: Int {
        if case .counted(_, let width, _) = kind { width } else { 0 }
    }

    func event(_ content: ByteBuffer) -> TransportEvent {
        let bytes = Array(content.readableBytesView)
        return switch kind {
        case .line: .line(bytes)
        case .counted: .message(bytes)
        case .data: .data(bytes)
        }
    }
}
