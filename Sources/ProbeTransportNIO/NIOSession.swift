import Glibc
import NIOCore
import NIOExtras
import ProbeTransport

/// One connection on its event loop: NIO's events come in, the transport's events go out. Confined to that loop.
final class NIOSession {
    private enum Phase {
        /// There is no channel yet, or it is not active.
        case connecting
        case open
        /// What was sent is still being written; then the channel is closed and this is reported.
        case closing(NIOFailure)
        case ended
    }

    private let life: TransportLife
    private let framing: NIOFraming
    private let idleTimeout: TimeAmount?
    private let allowsHalfClose: Bool
    /// The peer's FIN came, and the channel stays open.
    private var isHalfClosed = false
    /// Released with the last event, because it may hold the transport.
    private var handler: TransportHandler?
    private var unreported: CircularBuffer<TransportEvent> = []
    private var isReporting = false
    private var phase = Phase.connecting
    private var channel: (any Channel)?
    /// The channels of connection attempts, with their events from before one was chosen.
    private var attempts: [(channel: any Channel, said: [NIOEndHandler.Event])] = []
    /// Messages that were sent before there was a connection.
    private var waiting: CircularBuffer<(buffer: ByteBuffer, count: Int)> = []
    private var wantsRead = true
    /// Of an accepted connection that was told to stop before its channel was active.
    private var stopsOnceOpen = false
    private var halfCloses = false
    /// The number of writes that NIO has not completed.
    private var unfinished = 0
    /// Why the channel is about to become inactive, if NIO has reported it.
    private var failure: NIOFailure?

    /// How long writing may make no progress before the connection is closed.
    private static let patience = TimeAmount.seconds(1)

    init(
        life: TransportLife, framing: NIOFraming, idleTimeout: TimeAmount?, allowsHalfClose: Bool,
        handler: @escaping TransportHandler
    ) {
        self.life = life
        self.allowsHalfClose = allowsHalfClose
        self.framing = framing
        self.idleTimeout = idleTimeout
        self.handler = handler
    }

    // MARK: The channel

    /// Builds the pipeline of a channel.
    func addHandlers(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        if let idleTimeout { try pipeline.addHandler(IdleStateHandler(allTimeout: idleTimeout)) }
        try framing.addHandlers(to: pipeline)
        try pipeline.addHandler(NIOEndHandler(self))
    }

    /// Adds a channel that may become the connection. False if no connection is wanted any more.
    func attempts(_ channel: any Channel) -> Bool {
        guard case .connecting = phase else { return false }
        attempts.append((channel, []))
        return true
    }

    /// This attempt has succeeded.
    func connected(_ channel: any Channel) {
        let said = attempts.first { $0.channel === channel }?.said ?? []
        attempts = []
        guard case .connecting = phase else { return channel.close(promise: nil) }
        adopt(channel)
        begin()
        for event in said { take(event) }
    }

    func connectFailed(_ error: any Error) {
        attempts = []
        guard case .connecting = phase else { return }
        end(NIOFailure(error))
    }

    /// A new connection of a listener, which becomes active soon.
    func accepted(_ channel: any Channel) {
        adopt(channel)
    }

    private func adopt(_ channel: any Channel) {
        self.channel = channel
        // A channel that is closed before it is active sends its pipeline no event.
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in becameInactive() }
    }

    /// For an accepted connection; ``connected(_:)`` handles those of a client.
    func becameActive(_ channel: any Channel) {
        guard case .connecting = phase, self.channel === channel else { return }
        begin()
    }

    private func begin() {
        guard let channel else { return }
        phase = .open
        report(.started)
        setAutoRead(wantsRead)
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
        case .connecting: waiting.append((message, count))
        case .open:
            // A handler may send while earlier messages are not written yet.
            if let channel, waiting.isEmpty {
                write(message, count, to: channel)
            } else {
                waiting.append((message, count))
            }
        case .closing(let reason):
            // The message was sent before the peer's FIN arrived.
            if reason.reason == .eof, let channel { write(message, count, to: channel) }
        case .ended: break
        }
    }

    func halfClose() {
        // NIO's close of the output behind the peer's FIN closes the channel, and drops what is not written.
        if case .open = phase, isHalfClosed { return close(NIOFailure(.eof)) }
        halfCloses = true
        if case .open = phase, waiting.isEmpty { channel?.close(mode: .output, promise: nil) }
    }

    func setReading(_ isWanted: Bool) {
        wantsRead = isWanted
        if case .open = phase { setAutoRead(isWanted) }
    }

    func stop() {
        switch phase {
        // An accepted connection is there for its peer: what was sent is written.
        case .connecting where channel != nil: stopsOnceOpen = true
        case .connecting:
            let channels = attempts.map(\.channel)
            attempts = []
            end(NIOFailure(.stopped))
            for channel in channels { channel.close(promise: nil) }
        case .open: close(NIOFailure(.stopped))
        case .closing: phase = .closing(NIOFailure(.stopped))
        case .ended: break
        }
    }

    /// SO_LINGER of 0 makes the close an RST; NIO drops what is not written.
    func reset() {
        switch phase {
        case .connecting where channel == nil: stop()
        case .connecting, .open, .closing:
            phase = .closing(NIOFailure(.stopped))
            // On the event loop it is set at once; it fails only on a closed channel.
            if let socket = channel as? any SocketOptionProvider {
                _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            }
            channel?.close(promise: nil)
        case .ended: break
        }
    }

    /// Like ``stop()``, but nothing is reported any more.
    func abandon() {
        handler = nil
        stop()
    }

    // MARK: Events of the pipeline

    /// Events of channels of lost attempts are ignored.
    func take(_ event: NIOEndHandler.Event, of channel: any Channel) {
        if self.channel === channel {
            take(event)
        } else if let index = attempts.firstIndex(where: { $0.channel === channel }) {
            attempts[index].said.append(event)
        }
    }

    private func take(_ event: NIOEndHandler.Event) {
        switch event {
        case .read(let buffer): deliver(framing.event(buffer))
        case .inputClosed: inputClosed()
        case .idle: becameIdle()
        case .caught(let error): caught(error)
        case .inactive: becameInactive()
        }
    }

    /// The peer's FIN. What was sent is still written.
    private func inputClosed() {
        guard case .open = phase else { return }
        guard allowsHalfClose, !halfCloses else { return close(NIOFailure(.eof)) }
        isHalfClosed = true
        report(.halfClosed)
    }

    private func becameIdle() {
        guard case .open = phase else { return }
        failure = NIOFailure(.timeout, "nothing was read or written for the idle time")
        channel?.close(promise: nil)
    }

    private func caught(_ error: any Error) {
        if let leftover = error as? NIOExtrasErrors.LeftOverBytesError {
            return deliver(.leftover(Array(leftover.leftOverBytes.readableBytesView)))
        }
        noteFailure(error)
        channel?.close(promise: nil)
    }

    private func becameInactive() {
        switch phase {
        case .connecting where stopsOnceOpen: end(NIOFailure(.stopped))
        case .connecting: end(failure ?? NIOFailure(.other, "the connection was gone at once"))
        case .closing(let reason): end(reason.reason == .eof ? failure ?? reason : reason)
        case .open:
            // If both directions are closed, NIO closes the channel without the event for the peer's FIN.
            let unsaid =
                halfCloses ? NIOFailure(.eof) : NIOFailure(.other, "NIO closed the channel and caught no error")
            // Half-closed, only a reset ends it.
            let hangUp = NIOFailure(.reset, "NIO closed the channel behind the peer's FIN and caught no error")
            end(failure ?? (isHalfClosed && !halfCloses ? hangUp : unsaid))
        case .ended: break
        }
    }

    // MARK: Writing and closing

    private func write(_ buffer: ByteBuffer, _ count: Int, to channel: any Channel) {
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

    /// NIO's close drops what is not written. So the channel is closed when everything is written, or when nothing
    /// makes progress.
    private func close(_ reason: NIOFailure) {
        phase = .closing(reason)
        // Messages that other threads have sent are still in the queue of the event loop.
        channel?.eventLoop.assumeIsolated().execute { [self] in closeIfWritten() }
        watchProgress(left: .max)
    }

    private func closeIfWritten() {
        guard case .closing = phase, unfinished == 0 else { return }
        channel?.close(promise: nil)
    }

    private func watchProgress(left before: Int) {
        guard case .closing = phase, let channel else { return }
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            guard case .closing(let reason) = phase else { return }
            // Fails only on a closed channel, which has nothing to write.
            let left = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
            if left < before, left > 0 { return watchProgress(left: left) }
            if reason.reason == .eof, failure == nil {
                failure = NIOFailure(.timeout, "\(left) bytes unwritten, the peer does not read")
            }
            channel.close(promise: nil)
        }
    }

    private func setAutoRead(_ isOn: Bool) {
        // Fails only on a closed channel, which reads nothing.
        try? channel?.syncOptions?.setOption(.autoRead, value: isOn)
    }

    /// Keeps the first error. Later ones are consequences, such as that of a write to a closed channel.
    private func noteFailure(_ error: any Error) {
        if error is ChannelError { return }
        if failure == nil { failure = NIOFailure(error) }
    }

    // MARK: Reports

    /// Reports an event other than start and stop.
    private func deliver(_ event: TransportEvent) {
        switch phase {
        case .open: break
        case .closing(let reason) where reason.reason == .eof: break
        case .connecting, .closing, .ended: return
        }
        report(event)
    }

    private func end(_ reason: NIOFailure) {
        phase = .ended
        waiting.removeAll()
        channel = nil
        // A stop that was accepted, and whose turn on the event loop comes later, is the reason.
        let reason = life.isOpen ? reason : NIOFailure(.stopped)
        report(.stopped(reason.reason, detail: reason.detail))
    }

    /// One event at a time: if a handler calls an operation, its events are reported after the handler has returned.
    private func report(_ event: TransportEvent) {
        unreported.append(event)
        if isReporting { return }
        isReporting = true
        while let event = unreported.popFirst() {
            if case .stopped = event {
                life.end()
                let last = handler
                handler = nil
                last?(event)
            } else if life.isOpen {
                handler?(event)
            }
        }
        isReporting = false
    }
}
