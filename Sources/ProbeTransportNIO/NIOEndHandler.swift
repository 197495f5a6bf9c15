import NIOCore
import NIOTLS

/// The last handler of a channel's pipeline. It passes the channel's events to the session.
///
/// Channels of unsuccessful connection attempts have this handler too. The session decides which channel is used.
final class NIOEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The events of a channel after it has become active.
    enum Event {
        case read(ByteBuffer)
        /// The TLS handshake is complete. The value is the negotiated application protocol (ALPN), if any.
        case secured(String?)
        case inputClosed
        case idle
        case caught(any Error)
        case inactive
    }

    private let session: NIOSession

    init(_ session: NIOSession) {
        self.session = session
    }

    func channelActive(context: ChannelHandlerContext) {
        session.becameActive(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        session.take(.read(unwrapInboundIn(data)), of: context.channel)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: session.take(.inputClosed, of: context.channel)
        case TLSUserEvent.handshakeCompleted(let name): session.take(.secured(name), of: context.channel)
        case is IdleStateHandler.IdleStateEvent: session.take(.idle, of: context.channel)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        session.take(.caught(error), of: context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        session.take(.inactive, of: context.channel)
        context.fireChannelInactive()
    }
}
