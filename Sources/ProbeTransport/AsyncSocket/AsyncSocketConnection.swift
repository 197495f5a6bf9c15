import ProbeSystem
import Synchronization

/// The data that an ``AsyncSocket`` and its thread share: the state, and the descriptor that wakes the thread.
///
/// The socket holds it and releases it in `deinit`. The thread holds it while it runs, and never holds the socket.
final class AsyncSocketConnection: Sendable {
    private struct Core: Sendable {
        var state: AsyncSocketState
        /// Passed to the thread, which releases it after `disconnected`: a handler may hold its socket.
        var handler: AsyncSocket.Handler?
        /// Not nil while the thread runs.
        var wake: WakeDescriptor?
    }

    let host: String
    let port: UInt16
    private let core: Mutex<Core>

    init(_ state: AsyncSocketState, host: String, port: UInt16, handler: @escaping AsyncSocket.Handler) {
        self.host = host
        self.port = port
        core = Mutex(Core(state: state, handler: handler))
    }

    /// Runs `body` on the state, from any thread, and wakes the connection's thread.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout AsyncSocketState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wake) = try core.withLock { core throws(Failure) -> (Result, WakeDescriptor?) in
            let result = try body(&core.state)
            // The thread never had the handler, and will not be started.
            if core.state.connection.isEnded, core.wake == nil { core.handler = nil }
            return (result, core.wake)
        }
        wake?.wake()
        return result
    }

    /// Runs `body` on the state, from the connection's own thread.
    func inspect<Result: Sendable>(_ body: (inout AsyncSocketState) -> Result) -> Result {
        core.withLock { body(&$0.state) }
    }

    /// Starts the thread, which connects or takes over an accepted connection.
    func startThread(accepted: CInt? = nil) throws(SystemError) {
        let wake = try WakeDescriptor()
        let handler = core.withLock { core in
            core.wake = wake
            defer { core.handler = nil }
            return core.handler
        }
        guard let handler else { return }
        do {
            try WorkerThread("transport", signals: .inherited, stack: TransportStack.size) { [self] in
                run(wake: wake, handler: handler, accepted: accepted)
            }.detach()
        } catch {
            core.withLock { core in
                core.wake = nil
                core.handler = handler
            }
            throw error
        }
    }

    /// Ends an accepted connection for which no thread could be started.
    func fail(_ error: SystemError) {
        let (actions, handler) = core.withLock { core in
            (core.state.connection.readFailed(error), core.handler.take())
        }
        for case .report(.stopped(let reason, let detail)) in actions {
            handler?(.disconnected(reason, detail: detail, unread: []))
        }
    }

    private func run(wake: WakeDescriptor, handler: @escaping AsyncSocket.Handler, accepted: CInt?) {
        let loop = AsyncSocketLoop(connection: self, wake: wake, handler: handler)
        if let accepted {
            loop.serve(StreamSocket(accepted: accepted), isAccepted: true)
        } else if let socket = loop.connect() {
            loop.serve(socket, isAccepted: false)
        }
        core.withLock { $0.wake = nil }
    }
}
