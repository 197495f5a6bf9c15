import ProbeSystem
import Synchronization

/// What a transport and its thread share: the state, and the descriptor that wakes the thread.
///
/// The transport holds it and lets go on `deinit`; the thread holds it for as long as it runs, and never the transport.
final class BSDConnection: Sendable {
    struct Core: Sendable {
        var state: BSDConnectionState
        /// Given away to the thread, which lets go of it after `stopped`: a handler may hold its transport.
        var handler: TransportHandler?
        /// There while a thread runs.
        var wake: WakeDescriptor?
    }

    let configuration: TransportConfiguration
    let framing: BSDFraming
    private let core: Mutex<Core>
    /// Called when the thread has ended and every descriptor is closed.
    private let threadEnded: @Sendable () -> Void

    init(
        configuration: TransportConfiguration, framing: BSDFraming, state: BSDConnectionState,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.framing = framing
        self.threadEnded = threadEnded
        core = Mutex(Core(state: state, handler: handler))
    }

    /// Runs `body` on the state, from any thread; then the connection's thread looks at it again.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout BSDConnectionState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wake) = try core.withLock { core throws(Failure) -> (Result, WakeDescriptor?) in
            let result = try body(&core.state)
            // Its thread never had the handler, and never will.
            if core.state.isEnded, core.wake == nil { core.handler = nil }
            return (result, core.wake)
        }
        wake?.wake()
        return result
    }

    /// Runs `body` on the state, from the connection's own thread.
    func inspect<Result: Sendable>(_ body: (inout BSDConnectionState) -> Result) -> Result {
        core.withLock { body(&$0.state) }
    }

    /// Starts the thread: it connects, or takes over a connection that was accepted.
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
                threadEnded()
            }.detach()
        } catch {
            core.withLock { core in
                core.wake = nil
                core.handler = handler
            }
            throw error
        }
    }

    /// The end of a connection that was accepted and got no thread.
    func fail(_ error: SystemError) {
        let (actions, handler) = core.withLock { core in
            (core.state.readFailed(error), core.handler.take())
        }
        for case .report(let event) in actions { handler?(event) }
    }

    private func run(wake: WakeDescriptor, handler: @escaping TransportHandler, accepted: CInt?) {
        let loop = BSDConnectionLoop(connection: self, wake: wake, handler: handler)
        if let accepted {
            loop.serve(StreamSocket(accepted: accepted), reportStart: true)
        } else if let socket = loop.connect() {
            loop.serve(socket, reportStart: false)
        }
        core.withLock { $0.wake = nil }
    }
}

/// Of a transport's threads: handlers run there too, and they are the user's.
enum TransportStack {
    static let size = 1 << 20
}
