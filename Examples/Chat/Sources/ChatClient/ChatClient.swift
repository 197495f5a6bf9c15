import NIOCore
import NIOExtras
import NIOPosix

/// A client of the room.
///
/// It does not depend on tcpprobe; the tests make it conform to tcpprobe's `Transport`.
public final class ChatClient: Sendable {
    /// What it tells, one at a time.
    public enum Event: Sendable {
        case connected
        case message(ChatMessage)
        /// The last one: nil, the room has closed; else why.
        case closed((any Error)?)
    }

    /// Receives the events, on a thread of SwiftNIO.
    public typealias Handler = @Sendable (Event) -> Void

    /// How the stream is divided into messages.
    public enum Reading: Sendable {
        /// As the tutorial has it: what one read of up to 4,096 bytes gives is a message. TCP promises no such thing.
        case eachReadIsAMessage
        /// What ends in LF is a message.
        case lines
    }

    private let name: String
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let channel: EventLoopFuture<any Channel>
    private let start: EventLoopPromise<Void>

    /// Connects when `open` is called.
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

    /// Connects, and says who it is.
    public func open() {
        start.succeed()
        write("iam:\(name)\n")
    }

    /// Says something to all.
    public func say(_ text: String) { write("msg:\(text)\n") }

    /// Ends the connection behind all that was said.
    public func close() {
        channel.whenSuccess { channel in channel.close(promise: nil) }
    }

    private func write(_ text: String) {
        channel.whenSuccess { channel in channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
    }
}
