import NIOCore
import NIOExtras
import NIOPosix

/// A TCP server on 127.0.0.1 that runs the room.
public struct ChatServer: Sendable {
    /// The maximum number of bytes of an incomplete line that are kept.
    private static let longestLine = 4096

    private let channel: any Channel

    /// Starts listening. One thread serves all members, so all of them receive the messages in the same order.
    ///
    /// - Parameter port: the port; if it is 0, the system chooses a free port.
    /// - Throws: an error if the port can't be bound.
    public init(port: Int) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let room = try await loop.submit { NIOLoopBound(Room(), eventLoop: loop) }.get()
        channel = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            // With the default size of the send buffer, the kernel would buffer megabytes for a member that does not
            // read, and the room would not notice in time that the member is slow.
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

    /// The port on which the server listens.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// Waits until the server has stopped.
    public func wait() async throws { try await channel.closeFuture.get() }
}
