import Glibc
import NIOCore
import NIOPosix
import SwiftProtobuf

/// Divides the stream into messages and parses each message.
final class SampleHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// A user event that instructs the handler to close the connection.
    struct Close: Sendable {}

    private let limit: Int
    private let handler: SampleStream.Handler
    private var unread = ByteBuffer()
    private var isOver = false

    init(limit: Int, handler: @escaping SampleStream.Handler) {
        self.limit = limit
        self.handler = handler
    }

    func channelActive(context: ChannelHandlerContext) { handler(.connected) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        var new = unwrapInboundIn(data)
        unread.writeBuffer(&new)
        do {
            while let body = try nextBody() {
                handler(.sample(try Sample(serializedBytes: body).serializedBytes()))
            }
            unread.discardReadBytes()
        } catch is TooLong {
            end(.tooLong, context)
        } catch {
            end(.malformed("\(error)"), context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is Close { end(.closed, context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(Self.reason(error), context) }

    func channelInactive(context: ChannelHandlerContext) { end(.end, context) }

    static func reason(_ error: any Error) -> SampleStream.Reason {
        switch (error as? IOError)?.errnoCode ?? (error as? NIOConnectionError)?.errnoCode {
        case ECONNRESET: .reset
        case ECONNREFUSED: .refused
        default: .other("\(error)")
        }
    }

    // MARK: The stream

    private struct TooLong: Error {}
    private struct LongLength: Error {}

    /// Returns the body of the next message; nil if the message is incomplete.
    private func nextBody() throws -> [UInt8]? {
        let bytes = unread.readableBytesView
        var length: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            // Only the lowest bit of a varint's tenth byte fits in 64 bits.
            guard index < 9 || index == 9 && byte <= 1 else { throw LongLength() }
            length |= UInt64(byte & 0x7F) << (7 * UInt64(index))
            guard byte < 0x80 else { continue }
            guard length <= UInt64(limit) else { throw TooLong() }
            guard bytes.count - index - 1 >= Int(length) else { return nil }
            unread.moveReaderIndex(forwardBy: index + 1)
            return unread.readBytes(length: Int(length))
        }
        return nil
    }

    private func end(_ reason: SampleStream.Reason, _ context: ChannelHandlerContext) {
        guard !isOver else { return }
        isOver = true
        let rest: [UInt8] = if case .end = reason { Array(unread.readableBytesView) } else { [] }
        context.close(promise: nil)
        handler(.closed(reason, rest: rest))
    }
}

extension NIOConnectionError {
    /// The errno of the first connection attempt, if it is known.
    fileprivate var errnoCode: CInt? { (connectionErrors.first?.error as? IOError)?.errnoCode }
}
