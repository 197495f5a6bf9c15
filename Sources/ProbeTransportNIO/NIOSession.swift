import NIOCore
import NIOExtras
import NIOSSL
import ProbeTransport

/// One connection of the transport `nio`. The session translates NIO's events to the transport's events, and is
/// confined to the connection's event loop.
final class NIOSession {
    enum Phase {
        /// There is no channel yet, or the channel is not active.
        case connecting
        /// The TLS handshake is in progress, after connecting or mid-stream (STARTTLS).
        case securing
        case open
        /// Queued messages are still being written. Then the channel is closed, and `stopped` is reported with the
        /// given reason.
        case closing(NIOFailure)
        case ended

        /// Whether the connection is closing because the peer has ended its side. If so, queued messages are still
        /// written and reported.
        var endsWithPeer: Bool {
            guard case .closing(let reason) = self else { return false }
            return reason.reason == .eof || reason.reason == .tlsTruncated
        }
    }

    private let reports: NIOReports
    let framing: NIOFraming
    /// The TLS settings of a connection that begins with TLS; `nil` for any other connection.
    private let security: NIOSecurity?
    /// Whether a TLS handler is in the pipeline.
    var hasTLS = false
    var hasStarted = false
    private let idleTimeout: TimeAmount?
    private let allowsHalfClose: Bool
    /// Whether the peer's FIN was received on a channel that stays open for writing.
    var isHalfClosed = false
    var phase = Phase.connecting
    var channel: (any Channel)?
    /// The channels of concurrent connection attempts, each with the events received before one channel was chosen.
    private var attempts: [(channel: any Channel, events: [NIOEndHandler.Event])] = []
    /// The messages that were sent before the connection was ready.
    private var waiting: CircularBuffer<(buffer: ByteBuffer, count: Int)> = []
    private var wantsRead = true
    /// Whether an accepted connection was stopped before its channel became active.
    private var stopsOnceOpen = false
    private var halfCloses = false
    /// The number of writes that NIO has not completed.
    var unfinished = 0
    /// The reason why the channel is about to become inactive; `nil` if NIO has not reported a reason.
    var failure: NIOFailure?

    init(
        lifecycle: TransportLifecycle, framing: NIOFraming, security: NIOSecurity?, idleTimeout: TimeAmount?,
        allowsHalfClose: Bool, handler: @escaping TransportHandler
    ) {
        reports = NIOReports(lifecycle: lifecycle, handler: handler)
        self.allowsHalfClose = allowsHalfClose
        self.framing = framing
        self.security = security
        self.idleTimeout = idleTimeout
    }

    // MARK: The channel

    /// Builds a channel's pipeline.
    func addHandlers(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        if let idleTimeout { try pipeline.addHandler(IdleStateHandler(allTimeout: idleTimeout)) }
        if let security { try pipeline.addHandler(try security.makeHandler()) }
        try framing.addHandlers(to: pipeline)
        try pipeline.addHandler(NIOEndHandler(self))
    }

    /// Adds a channel that may become the connection. Returns `false` if the session is no longer connecting.
    func attempts(_ channel: any Channel) -> Bool {
        guard case .connecting = phase else { return false }
        attempts.append((channel, []))
        return true
    }

    /// Handles the success of a connection attempt.
    func connected(_ channel: any Channel) {
        let events = attempts.first { $0.channel === channel }?.events ?? []
        attempts = []
        guard case .connecting = phase else { return channel.close(promise: nil) }
        adopt(channel)
        if security == nil { begin() } else { secure() }
        for event in events { take(event) }
    }

    func connectFailed(_ error: any Error) {
        attempts = []
        guard case .connecting = phase else { return }
        end(NIOFailure(error))
    }

    /// Takes over the channel of a newly accepted connection, which will soon become active.
    func accepted(_ channel: any Channel) {
        adopt(channel)
    }

    private func adopt(_ channel: any Channel) {
        self.channel = channel
        // `closeFuture` is needed because a channel that is closed before it is active sends no event to its pipeline.
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in becameInactive() }
    }

    /// Begins an accepted connection when its channel has become active. A client's channels are handled by
    /// ``connected(_:)``.
    func becameActive(_ channel: any Channel) {
        guard case .connecting = phase, self.channel === channel else { return }
        begin()
    }

    func begin() {
        guard let channel else { return }
        phase = .open
        if !hasStarted { report(.started) }
        hasStarted = true
        channel.setAutoRead(wantsRead)
        while !waiting.isEmpty {
            let (buffer, count) = waiting.removeFirst()
            write(buffer, count, to: channel)
        }
        if case .open = phase, stopsOnceOpen { return close(NIOFailure(.stopped)) }
        if case .open = phase, halfCloses { channel.close(mode: .output, promise: nil) }
    }

    // MARK: Requests of the owner

    func send(_ message: ByteBuffer) {
        let count = framing.prefixCount + message.readableBytes
        switch phase {
        case .connecting, .securing: waiting.append((message, count))
        case .open:
            // The handler may send a message while earlier messages are still waiting.
            if let channel, waiting.isEmpty {
                write(message, count, to: channel)
            } else {
                waiting.append((message, count))
            }
        case .closing:
            // The caller sent the message before it could know of the peer's FIN, so the message is still written.
            if phase.endsWithPeer, let channel { write(message, count, to: channel) }
        case .ended: break
        }
    }

    func halfClose() {
        // After the peer's FIN, closing only the output would make NIO close the channel and drop unwritten bytes.
        if case .open = phase, isHalfClosed { return close(NIOFailure(.eof)) }
        halfCloses = true
        if case .open = phase, waiting.isEmpty { channel?.close(mode: .output, promise: nil) }
    }

    func setReading(_ isWanted: Bool) {
        wantsRead = isWanted
        if case .open = phase { channel?.setAutoRead(isWanted) }
    }

    func stop() {
        switch phase {
        // For the peer, an accepted connection is already established, so queued messages are written.
        case .connecting where channel != nil: stopsOnceOpen = true
        case .connecting:
            let channels = attempts.map(\.channel)
            attempts = []
            end(NIOFailure(.stopped))
            for channel in channels { channel.close(promise: nil) }
        case .open, .securing: close(NIOFailure(.stopped))
        case .closing: phase = .closing(NIOFailure(.stopped))
        case .ended: break
        }
    }

    func reset() {
        switch phase {
        case .connecting where channel == nil: stop()
        case .connecting, .securing, .open, .closing:
            phase = .closing(NIOFailure(.stopped))
            channel?.reset()
        case .ended: break
        }
    }

    /// Stops the connection like ``stop()``, but without reporting any further event.
    func abandon() {
        reports.abandon()
        stop()
    }

    // MARK: Events of the pipeline

    /// Handles an event of a channel. Events of unsuccessful connection attempts are ignored.
    func take(_ event: NIOEndHandler.Event, of channel: any Channel) {
        if self.channel === channel {
            take(event)
        } else if let index = attempts.firstIndex(where: { $0.channel === channel }) {
            attempts[index].events.append(event)
        }
    }

    private func take(_ event: NIOEndHandler.Event) {
        switch event {
        case .read(let buffer): deliver(framing.event(buffer))
        case .secured(let name): secured(name)
        case .inputClosed: inputClosed()
        case .idle: becameIdle()
        case .caught(let error): caught(error)
        case .inactive: becameInactive()
        }
    }

    /// Handles the peer's FIN or close_notify. Queued messages are still written.
    private func inputClosed() {
        guard case .open = phase else { return }
        if let failure { return close(failure) }
        guard allowsHalfClose, !halfCloses else { return close(NIOFailure(.eof)) }
        isHalfClosed = true
        report(.halfClosed)
    }

    private func becameIdle() {
        guard case .open = phase else { return }
        give(up: NIOFailure(.timeout, "nothing was read or written within the idle timeout"))
    }

    func caught(_ error: any Error) {
        if let leftover = error as? NIOExtrasErrors.LeftOverBytesError {
            return deliver(.leftover(Array(leftover.leftOverBytes.readableBytesView)))
        }
        noteFailure(error)
        // An unclean shutdown is followed by the event for the peer's FIN, or by the end of the channel.
        if case NIOSSLError.uncleanShutdown = error { return }
        if let failure { give(up: failure) } else { channel?.close(promise: nil) }
    }

    /// Closes a failed connection. With TLS, the phase changes at once, because NIOSSL continues reading while it waits
    /// for the peer's close_notify.
    private func give(up failure: NIOFailure) {
        self.failure = failure
        if hasTLS, case .open = phase { phase = .closing(failure) }
        channel?.close(promise: nil)
    }

    private func becameInactive() {
        switch phase {
        case .connecting where stopsOnceOpen: end(NIOFailure(.stopped))
        case .connecting: end(failure ?? NIOFailure(.other, "the connection was lost immediately"))
        case .securing: end(failure ?? NIOFailure(.tlsFailed, "the connection was lost during the handshake"))
        case .closing(let reason): end(reason.reason == .eof ? failure ?? reason : reason)
        case .open:
            // If both directions are closed, NIO closes the channel without the event for the peer's FIN.
            let unreportedClose =
                halfCloses ? NIOFailure(.eof) : NIOFailure(.other, "NIO closed the channel without reporting an error")
            // After the peer's FIN, only a reset can close the channel.
            let hangUp = NIOFailure(.reset, "NIO closed the channel after the peer's FIN without reporting an error")
            end(failure ?? (isHalfClosed && !halfCloses ? hangUp : unreportedClose))
        case .ended: break
        }
    }

    // MARK: Reports

    /// Reports an event other than the connection's start and stop.
    func deliver(_ event: TransportEvent) {
        switch phase {
        case .open: break
        case .closing where phase.endsWithPeer: break
        case .securing:
            // During the handshake, `sent` is reported for bytes sent in the clear, but bytes received in the clear are
            // not delivered.
            guard case .sent = event else { return }
        case .connecting, .closing, .ended: return
        }
        report(event)
    }

    private func end(_ reason: NIOFailure) {
        phase = .ended
        waiting.removeAll()
        channel = nil
        reports.end(reason)
    }

    func report(_ event: TransportEvent) { reports.report(event) }
}

/// Performs the TLS handshake of a session.
extension NIOSession {
    /// Starts the TLS handshake. Its records are read even if reading is paused.
    func secure() {
        (phase, hasTLS) = (.securing, true)
        channel?.setAutoRead(true)
    }

    func secured(_ name: String?) {
        guard case .securing = phase, let channel else { return }
        guard let version = channel.pipeline.syncOperations.negotiatedVersion else {
            return caught(NIOSSLError.handshakeFailed(.noError))
        }
        report(.secured(version, protocol: name.map { Array($0.utf8) }))
        // The handler may have stopped the transport.
        if case .securing = phase { begin() }
    }

    /// Performs STARTTLS. The framing's decoder is replaced, so that the bytes it holds, which were received in the
    /// clear, are not delivered.
    func startTLS(_ security: NIOSecurity) throws(TransportError) {
        if hasTLS { throw .alreadyStarted }
        if isHalfClosed { throw .other("half-closed") }
        guard case .open = phase, let channel else { throw hasStarted ? .stopped : .notStarted }
        let pipeline = channel.pipeline.syncOperations
        do {
            let handler = try security.makeHandler()
            secure()
            try framing.replaceDecoder(in: pipeline)
            // The TLS handler sends the ClientHello as soon as it has been added. Finding the idle handler fails only
            // if no idle timeout was requested.
            if let idle = try? pipeline.handler(type: IdleStateHandler.self) {
                try pipeline.addHandler(handler, position: .after(idle))
            } else {
                try pipeline.addHandler(handler, position: .first)
            }
        } catch {
            throw .other("\(error)")
        }
    }
}

/// Writes messages and closes the channel.
extension NIOSession {
    /// The time after which the connection is closed if writing makes no progress.
    private static let timeout = TimeAmount.seconds(1)

    func write(_ buffer: ByteBuffer, _ count: Int, to channel: any Channel) {
        unfinished += 1
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            unfinished -= 1
            switch result {
            case .success: deliver(.sent(count))
            case .failure(let error): noteFailure(error)
            }
            closeIfWritten()
        }
        channel.writeAndFlush(buffer, promise: written)
    }

    /// Closes the channel when everything has been written, or when writing makes no progress. The channel is not
    /// closed at once, because NIO would drop unwritten bytes.
    func close(_ reason: NIOFailure) {
        phase = .closing(reason)
        // Closing is deferred, because messages that other threads have sent are still queued on the event loop.
        channel?.eventLoop.assumeIsolated().execute { [self] in closeIfWritten() }
        watchProgress(left: .max)
    }

    private func closeIfWritten() {
        guard case .closing = phase, unfinished == 0 else { return }
        channel?.close(promise: nil)
    }

    private func watchProgress(left before: Int) {
        guard case .closing = phase, let channel else { return }
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) { [self] in
            guard case .closing(let reason) = phase else { return }
            // `getOption` fails only on a closed channel, which has nothing to write.
            let left = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if left < before, left > 0 { return watchProgress(left: left) }
            if reason.reason == .eof, failure == nil {
                failure = NIOFailure(.timeout, "\(left) bytes unwritten: the peer does not read")
            }
            channel.close(promise: nil)
        }
    }

    /// Records the first error. Later errors, such as the error of a write to a closed channel, are consequences of the
    /// first one.
    func noteFailure(_ error: any Error) {
        if error is ChannelError { return }
        if failure == nil { failure = NIOFailure(error) }
    }
}
