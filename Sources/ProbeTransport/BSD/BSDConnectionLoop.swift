import CShims
import Glibc
import ProbeBase
import ProbeSystem

/// The loop of a connection's thread: it polls the socket, makes the system calls, divides the stream into messages,
/// and calls the handler. Confined to that thread.
final class BSDConnectionLoop {
    let connection: BSDConnection
    let wake: WakeDescriptor
    /// The handler; `nil` after `stopped`.
    private var handler: TransportHandler?
    private var decoder: BSDDecoder
    /// The framing that the decoder uses. `changes` is the number of changes that led to this framing.
    private var framing: (framing: BSDFraming, changes: Int)
    /// Whether the decoder may hold complete messages, because reading was stopped before all messages were delivered.
    private var holdsMessages = false
    let buffer: UnsafeMutableRawBufferPointer
    /// The result of the read by which a new connection was checked for an error. Any bytes read are in ``buffer``.
    var firstRead: StreamSocket.Outcome?

    private static let readSize = 64 * 1024
    private static let writeSize = 256 * 1024

    init(connection: BSDConnection, wake: WakeDescriptor, handler: @escaping TransportHandler) {
        self.connection = connection
        self.wake = wake
        self.handler = handler
        framing = connection.framing(after: -1) ?? (connection.framing, 0)
        decoder = framing.framing.makeDecoder()
        buffer = .allocate(byteCount: Self.readSize, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    /// Reports an event. The handler is released with the last event.
    func report(_ event: TransportEvent) {
        let handler = handler
        if case .stopped = event { self.handler = nil }
        handler?(event)
    }

    /// Serves a connection until it is closed.
    func serve(_ socket: StreamSocket, reportStart: Bool) {
        if reportStart, connection.inspect(\.delivers) { report(.started) }
        if let firstRead { take(firstRead, from: socket) }
        firstRead = nil
        while true {
            takeNewFraming()
            if holdsMessages { deliverMessages(socket) }
            let unacknowledged =
                connection.inspect(\.isLingering) ? Int(probe_unacknowledged_bytes(socket.descriptor)) : 0
            let now = MonotonicTime.now.nanoseconds
            if connection.inspect({ $0.isIdleDue(now: now) }) { transferOnce(socket) }
            let actions = connection.inspect { $0.settle(now: now, unacknowledged: unacknowledged) }
            perform(actions, on: socket)
            let (wantsRead, wantsWrite, isHalfClosed, deadline, isEnded) = connection.inspect {
                ($0.wantsRead, $0.wantsWrite, $0.isHalfClosed, $0.deadline, $0.isEnded)
            }
            if isEnded { return }
            // The state is queried again, because the actions may have called the handler, which may have changed the
            // state.
            if !actions.isEmpty { continue }
            let ready = Polling.wait(
                for: wake, socket, read: wantsRead, write: wantsWrite, errors: isHalfClosed, until: deadline, now: now)
            // Reading may have been stopped during the wait, so `wantsRead` is checked again.
            if ready.isReadable, connection.inspect(\.wantsRead) {
                take(socket.receive(into: buffer), from: socket)
            }
            if ready.hasFailed, connection.inspect(\.isHalfClosed) {
                perform(connection.inspect { $0.readFailed(socket.errorAfterFIN) }, on: socket)
                continue
            }
            // A new message is the usual reason for a wakeup, and only an attempt to write the message shows whether
            // the kernel accepts it.
            if ready.isWoken || ready.isWritable { write(to: socket) }
        }
    }

    /// Reads and writes once, before a connection is considered idle: bytes may have been waiting while a handler ran,
    /// or while this process was suspended.
    private func transferOnce(_ socket: StreamSocket) {
        if connection.inspect(\.wantsRead) { take(socket.receive(into: buffer), from: socket) }
        write(to: socket)
    }

    private func perform(_ actions: [BSDConnectionState.Action], on socket: StreamSocket) {
        for action in actions {
            switch action {
            case .report(let event): report(event)
            case .shutdownWrite: socket.shutdownWrite()
            case .close: socket.shut()
            case .abort: socket.abort()
            }
        }
    }

    private func write(to socket: StreamSocket) {
        let now = MonotonicTime.now.nanoseconds
        var isMoreDue = true
        while isMoreDue {
            let actions: [BSDConnectionState.Action]
            (actions, isMoreDue) = connection.inspect { state -> ([BSDConnectionState.Action], Bool) in
                guard state.wantsWrite else { return ([], false) }
                // Only an empty message is queued, and sending it needs no system call.
                if state.outgoing.queue.count == 0 { return (state.wrote(0, now: now), false) }
                let offered = min(state.outgoing.count, Self.writeSize)
                switch state.outgoing.queue.withFront(limit: Self.writeSize, { socket.send($0) }) {
                case .bytes(let count) where count < offered:
                    return (state.wrote(count, now: now) + state.writeBlocked(), false)
                // Only another attempt to write shows whether the kernel accepts more bytes.
                case .bytes(let count): return (state.wrote(count, now: now), state.mayBecomeFull)
                case .wouldBlock: return (state.writeBlocked(), false)
                case .failed(let error): state.writeFailed(error)
                }
                return ([], false)
            }
            perform(actions, on: socket)
        }
    }

    private func take(_ outcome: StreamSocket.Outcome, from socket: StreamSocket) {
        let now = MonotonicTime.now.nanoseconds
        switch outcome {
        case .wouldBlock:
            perform(connection.inspect { $0.readWouldBlock() }, on: socket)
        case .failed(let error):
            perform(connection.inspect { $0.readFailed(error) }, on: socket)
        case .bytes(0):
            // The bytes of an incomplete message are reported before `halfClosed`, too.
            if connection.inspect(\.wouldEndByEOF) {
                let leftover = decoder.finish()
                if !leftover.isEmpty { report(.leftover(leftover)) }
            }
            perform(connection.inspect { $0.readReachedEOF(now: now) }, on: socket)
        case .bytes(let count):
            let discards = connection.inspect { state in
                state.received(now: now)
                return state.discardsInput
            }
            guard !discards else { return }
            decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            holdsMessages = true
            deliverMessages(socket)
        }
    }

    /// Switches to a new framing, if there is one. The bytes of an incomplete message are passed to the new decoder.
    private func takeNewFraming() {
        guard let new = connection.framing(after: framing.changes) else { return }
        framing = new
        let rest = decoder.finish()
        decoder = new.framing.makeDecoder()
        decoder.append(rest)
        holdsMessages = !rest.isEmpty
    }

    /// Delivers complete messages one by one, until reading is stopped.
    private func deliverMessages(_ socket: StreamSocket) {
        do {
            while connection.inspect(\.deliversMessages) {
                // The handler may have changed the framing when it received the previous message.
                takeNewFraming()
                switch try decoder.next() {
                case .message(let content) where framing.framing.isAnswer(content):
                    connection.inspect { $0.noteAnswer(now: MonotonicTime.now.nanoseconds) }
                case .message(let content): report(framing.framing.event(content))
                case .discarded: report(.discarded)
                case nil:
                    holdsMessages = false
                    return
                }
            }
        } catch {
            holdsMessages = false
            let (reason, detail) = framing.framing.stop(for: error)
            perform(
                connection.inspect { $0.inputFailed(reason, detail, now: MonotonicTime.now.nanoseconds) }, on: socket)
        }
    }
}

extension BSDConnectionLoop {
    /// Resolves the host and tries its addresses; reports `started` or `stopped`.
    ///
    /// - Returns: `nil` if connecting failed, took too long, or was cancelled.
    func connect() -> StreamSocket? {
        let connector = SocketConnector(connection.ends, wake: wake, buffer: buffer, deadline: stillConnecting)
        switch connector.connect() {
        case .connected(let socket):
            firstRead = connector.firstRead
            return begin(socket) ? socket : nil
        case .failed(let failure):
            fail(failure)
            return nil
        case .abandoned:
            return nil
        }
    }

    /// Returns the deadline for connecting. If connecting has ended, the result is reported, and `nil` is returned.
    private func stillConnecting() -> Int64? {
        let now = MonotonicTime.now.nanoseconds
        let (actions, deadline) = connection.inspect { state in
            (state.settle(now: now), state.isConnecting ? state.deadline : nil)
        }
        reportAll(actions)
        return deadline
    }

    private func begin(_ socket: StreamSocket) -> Bool {
        let now = MonotonicTime.now.nanoseconds
        guard let actions = connection.inspect({ $0.connected(now: now) }) else {
            socket.shut()
            _ = stillConnecting()
            return false
        }
        reportAll(actions)
        return true
    }

    private func fail(_ failure: ConnectRace.Failure) {
        reportAll(connection.inspect { $0.connectFailed(failure) })
        // If `stop()` was called before the attempt to connect failed, the stop is reported instead of the failure.
        _ = stillConnecting()
    }

    private func reportAll(_ actions: [BSDConnectionState.Action]) {
        for case .report(let event) in actions { report(event) }
    }
}
