import NIOCore
import NIOExtras
import NIOPosix

/// The room as a TCP server on 127.0.0.1.
public struct ChatServer: Sendable {
    /// The maximum number of bytes kept of an unfinished line.
    private static let longestLine = 4096

    private let channel: any Channel

    /// Starts to listen. One thread serves all members, so everyone sees all messages in the same order.
    ///
    /// - Parameter port: the port; 0 lets the system choose one.
    /// - Throws: an error if the port can't be bound.
    public init(port: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let room = try await loop.submit { NIOLoopBound(Room(), eventLoop: loop) }.get()
        channel = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            // Otherwise the kernel buffers megabytes for a member that reads nothing, and the room notices it late.
            .childChannelOption(.socketOption(.so_sndbuf), value: 64 * 1024)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: Room.longestQueue))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(LineBasedFrameDecoder(), maximumBufferSize: Self.longestLine),
                        MemberHandler(room: room.value),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    /// The port that the server listens on.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// Returns when the server has ended.
    public func wait() async throws { try await channel.closeFuture.get() }
}
