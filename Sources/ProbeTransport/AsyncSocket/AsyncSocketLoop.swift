import ProbeSystem
import ProbeBase
import CShims

/// The loop of the thread of an ``AsyncSocket``: it polls the socket, makes the system calls, and calls the handler.
/// Confined to that thread.
final class AsyncSocketLoop {
    private let connection: AsyncSocketConnection
    private let wake: WakeDescriptor
    /// The handler; `nil` after `disconnected`.
    private var handler: AsyncSocket.Handler?
    private let buffer: UnsafeMutableRawBufferPointer
    private var firstRead: StreamSocket.Outcome?

    private static let readSize = 64 * 1024
    private static let writeSize = 256 * 1024

    init(connection: AsyncSocketConnection, wake: WakeDescriptor, handler: @escaping AsyncSocket.Handler) {
        self.connection = connection
        self.wake = wake
        self.handler = handler
        buffer = .allocate(byteCount: Self.readSize, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    // MARK: Connecting

    /// Connects, and reports the result.
    ///
    /// - Returns: `nil` if connecting failed, took too long, or was cancelled. The reason has been reported.
    func connect() -> StreamSocket? {
        let connector = SocketConnector(connection.ends, wake: wake, buffer: buffer, deadline: stillConnecting)
        switch connector.connect() {
        case .connected(let socket):
            firstRead = connector.firstRead
            if let actions = connection.inspect({ $0.connected(now: MonotonicTime.now.nanoseconds) }) {
                perform(actions, on: socket)
                return socket
            }
            socket.shut()
        case .failed(let failure):
            report(connection.inspect { $0.connection.connectFailed(failure) })
        case .abandoned: break
        }
        // If connecting was cancelled before it ended, the cancellation is reported.
        _ = stillConnecting()
        return nil
    }

    private func stillConnecting() -> Int64? {
        let now = MonotonicTime.now.nanoseconds
        let (actions, deadline) = connection.inspect { state in
            (state.connection.settle(now: now), state.connection.isConnecting ? state.connection.deadline : nil)
        }
        report(actions)
        return deadline
    }

    // MARK: Connected

    /// Serves a connection until it is closed.
    func serve(_ socket: StreamSocket, isAccepted: Bool) {
        if isAccepted, connection.inspect(\.connection.delivers) { handler?(.connected) }
        if let firstRead { take(firstRead, from: socket) }
        firstRead = nil
        while true {
            readAhead(socket)
            let lingers = connection.inspect(\.connection.isLingering)
            let unacknowledged = lingers ? Int(probe_unacknowledged_bytes(socket.descriptor)) : 0
            let now = MonotonicTime.now.nanoseconds
            let actions = connection.inspect { $0.connection.settle(now: now, unacknowledged: unacknowledged) }
            perform(actions, on: socket)
            let (wantsRead, wantsWrite, deadline, isEnded) = connection.inspect {
                ($0.wantsRead, $0.connection.wantsWrite, $0.deadline, $0.connection.isEnded)
            }
            if isEnded { return }
            // The state is queried again, because the actions may have called the handler, which may have changed the
            // state.
            if !actions.isEmpty { continue }
            let ready = Polling.wait(
                for: wake, socket, read: wantsRead, write: wantsWrite, until: deadline, now: now)
            if ready.isReadable, connection.inspect(\.wantsRead) {
                take(socket.receive(into: buffer), from: socket)
            }
            if ready.isWoken || ready.isWritable { write(to: socket) }
        }
    }

    /// Completes queued reads as long as enough bytes have been received. Before a timeout is reported, bytes are read
    /// from the kernel once more.
    private func readAhead(_ socket: StreamSocket) {
        let now = MonotonicTime.now.nanoseconds
        if let deadline = connection.inspect({ $0.deadline }), now >= deadline, connection.inspect(\.wantsRead) {
            take(socket.receive(into: buffer), from: socket)
            write(to: socket)
        }
        while true {
            switch connection.inspect({ $0.nextStep(now: now) }) {
            case .wait: return
            case .deliver(let bytes, let tag): handler?(.read(bytes, tag: tag))
            case .act(let actions): return perform(actions, on: socket)
            }
        }
    }

    private func write(to socket: StreamSocket) {
        let now = MonotonicTime.now.nanoseconds
        let (actions, progress) = connection.inspect { state -> ([BSDConnectionState.Action], [WriteQueue.Progress]) in
            guard state.connection.wantsWrite else { return ([], []) }
            switch state.connection.outgoing.queue.withFront(limit: Self.writeSize, { socket.send($0) }) {
            case .bytes(let count): return state.wrote(count, now: now)
            case .wouldBlock: break
            case .failed(let error): state.connection.writeFailed(error)
            }
            return ([], [])
        }
        // Progress is reported only if the actions include a report of `sent`.
        if actions.contains(where: { if case .report(.sent) = $0 { true } else { false } }) {
            for part in progress {
                switch part {
                case .partial(let count, let tag): handler?(.wrotePart(count, tag: tag))
                case .done(let count, let tag): handler?(.wrote(count, tag: tag))
                }
            }
        }
        perform(actions, on: socket)
    }

    private func take(_ outcome: StreamSocket.Outcome, from socket: StreamSocket) {
        let now = MonotonicTime.now.nanoseconds
        let actions = connection.inspect { state -> [BSDConnectionState.Action] in
            switch outcome {
            case .wouldBlock: return state.connection.readWouldBlock()
            case .failed(let error): return state.connection.readFailed(error)
            case .bytes(0): return state.readReachedEOF(now: now)
            case .bytes(let count):
                state.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), now: now)
                return []
            }
        }
        perform(actions, on: socket)
    }

    private func perform(_ actions: [BSDConnectionState.Action], on socket: StreamSocket) {
        for action in actions {
            switch action {
            case .report: report([action])
            case .shutdownWrite: socket.shutdownWrite()
            case .close: socket.shut()
            case .abort: socket.abort()
            }
        }
    }

    /// Reports the events of `actions`, and releases the handler with the last event.
    private func report(_ actions: [BSDConnectionState.Action]) {
        for case .report(let event) in actions {
            switch event {
            case .started: handler?(.connected)
            case .stopped(let reason, let detail):
                let last = handler
                handler = nil
                last?(.disconnected(reason, detail: detail, unread: connection.inspect(\.reads.unread)))
            default: break
            }
        }
    }
}
