import NIOCore
import NIOExtras
import NIOPosix

/// A client of the chat room.
///
/// It does not depend on tcpprobe; the tests make it conform to tcpprobe's `Transport`.
public final class ChatClient: Sendable {
    /// An event that the client reports; events are reported one at a time.
    public enum Event: Sendable {
        case connected
        case message(ChatMessage)
        /// The last event: nil if the room closed the connection, otherwise the error.
        case closed((any Error)?)
    }

    /// Receives the events on a SwiftNIO thread.
    public typealias Handler = @Sendable (Event) -> Void

    /// How the stream is divided into messages.
    public enum Reading: Sendable {
        /// As in many tutorials: one read of up to 4,096 bytes is one message. TCP makes no such promise.
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

    /// Closes the connection after everything that was sent.
    public func close() {
        channel.whenSuccess { channel in channel.close(promise: nil) }
    }

    private func write(_ text: String) {
        channel.whenSuccess { channel in channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
    }
}
