import NIOCore
import NIOPosix
import SwiftProtobuf

/// A client that reads and writes a length-delimited stream of `Sample` messages
/// (https://protobuf.dev/programming-guides/techniques/#streaming).
///
/// The client does not depend on tcpprobe; the tests contain an adapter that conforms to tcpprobe's `Transport`.
public final class SampleStream: Sendable {
    /// An event that the stream reports. Events are reported one at a time.
    public enum Event: Sendable {
        case connected
        /// A received message, which was parsed and then serialized again.
        case sample([UInt8])
        /// The stream has ended. This is the last event; `rest` contains the bytes of an incomplete message.
        case closed(Reason, rest: [UInt8])
    }

    /// The reason why the stream ended.
    public enum Reason: Sendable {
        /// The peer closed the connection (`end`), or ``SampleStream/close()`` was called (`closed`).
        case end, closed
        case refused, reset
        /// The bytes are not a valid message or length.
        case malformed(String)
        /// The peer sent a message that is longer than the limit.
        case tooLong
        case other(String)
    }

    /// A function that receives the stream's events on a SwiftNIO thread.
    public typealias Handler = @Sendable (Event) -> Void

    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let start: EventLoopPromise<Void>
    private let channel: EventLoopFuture<any Channel>

    /// - Parameter limit: the maximum number of bytes in a message.
    public init(host: String, port: Int, limit: Int, handler: @escaping Handler) {
        let loop = loop
        start = loop.makePromise(of: Void.self)
        channel = start.futureResult.flatMap {
            ClientBootstrap(group: loop)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(SampleHandler(limit: limit, handler: handler))
                    }
                }
                .connect(host: host, port: port)
        }
        channel.whenFailure { handler(.closed(SampleHandler.reason($0), rest: [])) }
    }

    /// Starts to connect.
    public func open() { start.succeed() }

    /// Parses the bytes as a message, serializes that message again, and sends it.
    ///
    /// - Throws: an error if the bytes are not a valid `Sample`.
    public func send(_ bytes: [UInt8]) throws {
        let body: [UInt8] = try Sample(serializedBytes: bytes).serializedBytes()
        channel.whenSuccess { channel in
            var buffer = channel.allocator.buffer(capacity: body.count + 10)
            var length = UInt64(body.count)
            while length > 0x7F {
                buffer.writeInteger(UInt8(truncatingIfNeeded: length) | 0x80)
                length >>= 7
            }
            buffer.writeInteger(UInt8(length))
            buffer.writeBytes(body)
            channel.writeAndFlush(buffer, promise: nil)
        }
    }

    /// Closes the connection after all messages have been sent. After this call, only the end of the stream is
    /// reported.
    public func close() {
        channel.whenSuccess { channel in channel.pipeline.fireUserInboundEventTriggered(SampleHandler.Close()) }
    }
}
