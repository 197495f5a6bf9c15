import NIOCore

/// Handles the lines that are received on one connection.
final class MemberHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let room: Room

    init(room: Room) { self.room = room }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var line = [UInt8](unwrapInboundIn(data).readableBytesView)
        if line.last == 13 { line.removeLast() }
        let refusal: Room.Refusal?
        switch (line.prefix(4), line.dropFirst(4)) {
        case (let verb, let rest) where verb.elementsEqual("iam:".utf8):
            refusal = room.join(Array(rest), context.channel)
        case (let verb, let rest) where verb.elementsEqual("msg:".utf8):
            refusal = room.say(Array(rest), context.channel)
        default: refusal = .unknown
        }
        guard let refusal else { return }
        let answer = Room.line(Array(refusal.rawValue.utf8), context.channel)
        context.channel.writeAndFlush(answer, promise: nil)
        // After an invalid line, a member stays connected, but a connection that has not yet given a valid name is
        // closed.
        if room.name(of: context.channel) == nil { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        room.leave(context.channel)
        context.fireChannelInactive()
    }

    /// Closes the connection after it was reset, or after a line that is too long.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
