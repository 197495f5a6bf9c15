import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket
import ProbeBase
import ProbeTransport

/// One connection of the transport `nio-websocket`. The session translates NIO's frames to the transport's events, and
/// is confined to the connection's event loop.
///
/// The session implements what NIO leaves to its users: pongs, answers to close frames, the validation of UTF-8, and
/// close codes (RFC 6455, sections 5.5 and 7). NIO's own behavior is left unchanged.
final class NIOWebSocketSession {
    private enum Phase {
        /// The connection attempt, the TLS handshake or the opening handshake is in progress.
        case opening
        case open
        /// This side has sent its close frame, and the peer's close frame has not been received.
        case closing
        /// The channel is about to be closed. Then `stopped` is reported with the given reason.
        case ending(NIOFailure)
        case ended
    }

    /// `closeTimeout` is the maximum time to wait for the peer's close frame, and for writing after a stop.
    /// `endTimeout` is the maximum time to wait for the peer's FIN after both close frames.
    private static let (closeTimeout, endTimeout) = (TimeAmount.seconds(1), TimeAmount.milliseconds(500))

    private let reports: NIOReports
    private let isClient: Bool
    private var phase = Phase.opening
    private var channel: (any Channel)?
    private var wantsRead = true
    /// The frames that were sent before the WebSocket was open.
    private var waiting: CircularBuffer<NIOWebSocket.WebSocketFrame> = []
    private var request: HTTPRequestHead?
    private var needsTLS = false

    init(lifecycle: TransportLifecycle, isClient: Bool, handler: @escaping TransportHandler) {
        (self.isClient, reports) = (isClient, NIOReports(lifecycle: lifecycle, handler: handler))
    }

    // MARK: Opening

    /// Sets the opening request for a client. The request is sent when the connection and, if needed, TLS are
    /// established.
    func prepare(_ request: HTTPRequestHead, needsTLS: Bool) {
        (self.request, self.needsTLS) = (request, needsTLS)
    }

    func connected(_ channel: any Channel) {
        guard case .opening = phase else { return channel.close(promise: nil) }
        adopt(channel)
        if !needsTLS { ask() }
    }

    func connectFailed(_ error: any Error) {
        guard case .opening = phase, channel == nil else { return }
        end(NIOFailure(error))
    }

    /// Handles the end of the TLS handshake, which may precede ``connected(_:)``.
    func secured(_ name: String?, on channel: any Channel) {
        guard case .opening = phase, let version = channel.pipeline.syncOperations.negotiatedVersion else { return }
        report(.secured(version, protocol: name.map { Array($0.utf8) }))
        needsTLS = false
        if self.channel != nil { ask() }
    }

    private func ask() {
        guard case .opening = phase, let channel, let request else { return }
        self.request = nil
        channel.write(HTTPClientRequestPart.head(request), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    /// Handles the end of the opening handshake.
    func opened(_ channel: any Channel) {
        guard case .opening = phase else { return channel.close(promise: nil) }
        adopt(channel)
        phase = .open
        report(.started)
        channel.setAutoRead(wantsRead)
        while case .open = phase, let frame = waiting.popFirst() { write(frame, to: channel) }
    }

    /// Ends the connection because the server refused the WebSocket handshake or took too long to respond.
    func openingFailed(_ failure: NIOFailure) {
        guard case .opening = phase else { return }
        finish(failure)
    }

    private func adopt(_ channel: any Channel) {
        if self.channel != nil { return }
        self.channel = channel
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in becameInactive() }
    }

    // MARK: Requests of the owner

    func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        let frame = frame(opcode, payload)
        switch phase {
        case .opening: waiting.append(frame)
        case .open: if let channel { write(frame, to: channel) }
        case .closing, .ending, .ended: break
        }
    }

    func close(_ payload: [UInt8]) {
        guard case .open = phase, let channel else { return }
        phase = .closing
        write(frame(.connectionClose, payload), to: channel)
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) { [self] in
            if case .closing = phase { finish(NIOFailure(.timeout, "the close frame was not answered")) }
        }
    }

    func setReading(_ isWanted: Bool) {
        wantsRead = isWanted
        if case .opening = phase { return }
        channel?.setAutoRead(isWanted)
    }

    func stop() {
        switch phase {
        case .opening: finish(NIOFailure(.stopped))
        case .open:
            guard let channel else { return }
            fail(NIOFailure(.stopped), code: 1000, on: channel)
        case .closing: finish(NIOFailure(.stopped))
        case .ending: phase = .ending(NIOFailure(.stopped))
        case .ended: break
        }
    }

    func reset() {
        guard let channel else { return stop() }
        phase = .ending(NIOFailure(.stopped))
        channel.reset()
    }

    /// Stops the connection like ``stop()``, but without reporting any further event.
    func abandon() {
        reports.abandon()
        stop()
    }

    // MARK: Received frames

    /// Handles a frame from NIO's aggregator. A data frame is therefore always a complete message.
    func received(_ frame: NIOWebSocket.WebSocketFrame) {
        guard let channel else { return }
        switch phase {
        case .open, .closing: break
        case .opening, .ending, .ended: return
        }
        let payload = Array(frame.unmaskedData.readableBytesView)
        switch frame.opcode {
        case .text:
            guard String(validating: payload, as: UTF8.self) != nil else {
                return fail(NIOFailure(.protocol, "a text message is not valid UTF-8"), code: 1007, on: channel)
            }
            report(.webSocketMessage(.text, payload))
        case .binary: report(.webSocketMessage(.binary, payload))
        case .ping:
            if case .open = phase { write(self.frame(.pong, payload), to: channel) }
            report(.ping(payload))
        case .pong: report(.pong(payload))
        case .connectionClose: peerClosed(payload, on: channel)
        default: fail(NIOFailure(.protocol, "the opcode is reserved"), code: 1002, on: channel)
        }
    }

    private func peerClosed(_ payload: [UInt8], on channel: any Channel) {
        guard payload.count != 1 else {
            return fail(NIOFailure(.protocol, "a close frame with a payload of one byte"), code: 1002, on: channel)
        }
        let code = payload.count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1])
        if let code, !ProbeBase.WebSocketFrame.mayBeSent(code: code) {
            return fail(NIOFailure(.protocol, "a close frame with the invalid code \(code)"), code: 1002, on: channel)
        }
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
            return fail(NIOFailure(.protocol, "a close frame whose reason is not valid UTF-8"), code: 1007, on: channel)
        }
        if case .open = phase { write(frame(.connectionClose, Array(payload.prefix(2))), to: channel) }
        phase = .ending(NIOFailure(.closed(code: code), reason.isEmpty ? nil : reason))
        // The server closes the TCP connection first (RFC 6455, section 7.1.1).
        if isClient { closeChannel(within: Self.endTimeout) } else { closeChannel(within: .zero) }
    }

    /// Handles the peer's FIN.
    func inputClosed() {
        switch phase {
        case .opening, .open, .closing: finish(NIOFailure(.eof))
        case .ending: channel?.close(promise: nil)
        case .ended: break
        }
    }

    /// Handles an error from the pipeline. NIO's own error handler has already answered a decoding error with a close
    /// frame.
    func caught(_ error: any Error) {
        switch error {
        case let error as NIOWebSocketError:
            let reason: StopReason = if case .invalidFrameLength = error { .tooLong } else { .protocol }
            switch phase {
            case .open, .closing: phase = .ending(NIOFailure(reason, "\(error)"))
            case .opening, .ending, .ended: break
            }
        case let error as NIOWebSocketFrameAggregator.Error:
            guard let channel else { return }
            switch phase {
            case .open, .closing: break
            case .opening, .ending, .ended: return
            }
            let isTooLong = if case .accumulatedFrameSizeIsTooLarge = error { true } else { false }
            fail(NIOFailure(isTooLong ? .tooLong : .protocol, "\(error)"), code: isTooLong ? 1009 : 1002, on: channel)
        default:
            if error is ChannelError { return }
            let failure = NIOFailure(error)
            switch phase {
            case .opening where failure.reason == .other: finish(NIOFailure(.protocol, failure.detail))
            case .opening, .open, .closing: finish(failure)
            case .ending: channel?.close(promise: nil)
            case .ended: break
            }
        }
    }

    func becameInactive() {
        switch phase {
        case .ending(let reason): end(reason)
        case .opening, .open, .closing: end(NIOFailure(.eof))
        case .ended: break
        }
    }

    // MARK: Writing and ending

    /// Returns a frame with the given opcode and payload. A client masks every frame with a new key (RFC 6455, section
    /// 5.3).
    private func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> NIOWebSocket.WebSocketFrame {
        NIOWebSocket.WebSocketFrame(
            fin: true, opcode: opcode, maskKey: isClient ? .random() : nil, data: ByteBuffer(bytes: payload))
    }

    private func write(_ frame: NIOWebSocket.WebSocketFrame, to channel: any Channel) {
        channel.writeAndFlush(frame, promise: nil)
    }

    /// Sends a close frame after the queued frames, and closes the channel once the close frame has been written.
    private func fail(_ failure: NIOFailure, code: UInt16, on channel: any Channel) {
        var hasClosed = false
        if case .closing = phase { hasClosed = true }
        phase = .ending(failure)
        if hasClosed { return closeChannel(within: .zero) }
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] _ in closeChannel(within: .zero) }
        channel.writeAndFlush(frame(.connectionClose, [UInt8(code >> 8), UInt8(code & 0xFF)]), promise: written)
        closeChannel(within: Self.closeTimeout)
    }

    /// Closes the channel, and then reports `stopped` with the given reason.
    private func finish(_ failure: NIOFailure) {
        guard let channel else { return end(failure) }
        phase = .ending(failure)
        channel.close(promise: nil)
    }

    private func closeChannel(within time: TimeAmount) {
        guard let channel else { return }
        if time == .zero { return channel.close(promise: nil) }
        channel.eventLoop.assumeIsolated().scheduleTask(in: time) { channel.close(promise: nil) }
    }

    private func end(_ reason: NIOFailure) {
        phase = .ended
        waiting.removeAll()
        channel = nil
        reports.end(reason)
    }

    private func report(_ event: TransportEvent) { reports.report(event) }
}
