import NIOCore
import NIOExtras
import NIOPosix

/// A client of the chat room.
///
/// The client does not depend on tcpprobe; the tests contain an adapter that conforms to tcpprobe's `Transport`.
public final class ChatClient: Sendable {
    /// An event that the client reports. Events are reported one at a time.
    public enum Event: Sendable {
        case connected
        case message(ChatMessage)
        /// The connection has ended. This is the last event; its error is nil if the room closed the connection.
        case closed((any Error)?)
    }

    /// A function that receives the client's events on a SwiftNIO thread.
    public typealias Handler = @Sendable (Event) -> Void

    /// The way in which the client divides the stream into messages.
    public enum Reading: Sendable {
        /// Each read of up to 4,096 bytes is a message, as in many tutorials. TCP does not guarantee this.
        case eachReadIsAMessage
        /// Each line that ends in LF is a message.
        case lines
    }

    private let name: String
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let channel: EventLoopFuture<any Channel>
    private let start: EventLoopPromise<Void>

    /// Creates a client, which connects when `open` is called.
    public init(host: String, port: Int, name: String, reading: Reading, handler: @escaping Handler) {
        self.name = name
        let start = loop.makePromise(of: Void.self)
        self.start = start
        let loop = loop
        channel = start.futureResult.flatMap {
            ClientBootstrap(group: loop)
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if case .lines = reading {
                            try pipeline.addHandler(ByteToMessageHandler(LineBasedFrameDecoder()))
                        }
                        try pipeline.addHandler(MessageHandler(reading: reading, handler: handler))
                    }
                }
                .connect(host: host, port: port)
        }
        channel.whenFailure { handler(.closed($0)) }
    }

    /// Connects, and sends the client's name.
    public func open() {
        start.succeed()
        write("iam:\(name)\n")
    }

    /// Sends a message to all members.
    public func say(_ text: String) { write("msg:\(text)\n") }

    /// Closes the connection after all messages have been sent.
    public func close() {
        channel.whenSuccess { channel in channel.close(promise: nil) }
    }

    private func write(_ text: String) {
        channel.whenSuccess { channel in channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
    }
}
