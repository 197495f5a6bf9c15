import NIOCore

/// Converts received bytes to messages.
final class MessageHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let reading: ChatClient.Reading
    private let handler: ChatClient.Handler
    private var failure: (any Error)?

    init(reading: ChatClient.Reading, handler: @escaping ChatClient.Handler) {
        self.reading = reading
        self.handler = handler
    }

    func channelActive(context: ChannelHandlerContext) { handler(.connected) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        switch reading {
        case .lines: handler(.message(ChatMessage(text)))
        case .eachReadIsAMessage:
            handler(.message(ChatMessage(splitting: text.hasSuffix("\n") ? String(text.dropLast()) : text)))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { handler(.closed(failure)) }
}
