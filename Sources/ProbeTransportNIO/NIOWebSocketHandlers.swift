import NIOCore
import NIOHTTP1
import NIOTLS
import NIOWebSocket
import ProbeTransport

/// The last handler of a channel after the opening handshake. It passes received frames to the session.
final class NIOWebSocketFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let session: NIOWebSocketSession

    init(_ session: NIOWebSocketSession) { self.session = session }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { session.received(unwrapInboundIn(data)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { return session.inputClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { session.caught(error) }
}

/// The last handler of a client's channel during the opening handshake. A response that reaches this handler has not
/// opened a WebSocket.
final class NIOWebSocketRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let session: NIOWebSocketSession

    init(_ session: NIOWebSocketSession) { self.session = session }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        session.openingFailed(
            NIOFailure(.protocol, "the response to the opening handshake has the status \(head.status)"))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: session.inputClosed()
        case TLSUserEvent.handshakeCompleted(let name): session.secured(name, on: context.channel)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { session.caught(error) }
}

/// The last handler of a server's channel during the opening handshake. A request that reaches this handler has not
/// opened a WebSocket.
final class NIOWebSocketRefusalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let headers: HTTPHeaders = ["Content-Length": "0", "Connection": "close"]
        let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    /// Closes the channel, except after an error in the upgrader, because the upgrader then passes the request on to
    /// this handler.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !(error is NIOWebSocketUpgradeError) { context.close(promise: nil) }
    }
}
