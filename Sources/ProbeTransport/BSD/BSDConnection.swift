import ProbeSystem
import Synchronization

/// The data that a `bsd` transport and its thread share.
final class BSDConnection: ThreadedConnection {
    let ends: ConnectionEnds
    /// The connection's framing, and how many times it has been changed.
    private let current: Mutex<(framing: BSDFraming, changes: Int)>
    let core: ConnectionCore<BSDConnectionState, TransportEvent>
    private let ended: @Sendable () -> Void

    /// Creates the data for one connection.
    ///
    /// - Parameter threadEnded: called when the thread has ended and every descriptor is closed.
    init(
        ends: ConnectionEnds, framing: BSDFraming, state: BSDConnectionState,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) {
        self.ends = ends
        current = Mutex((framing, 0))
        ended = threadEnded
        core = ConnectionCore(state, handler: handler)
    }

    var framing: BSDFraming { current.withLock { $0.framing } }

    /// Returns the framing if it has been changed more than the given number of times; otherwise `nil`.
    func framing(after changes: Int) -> (framing: BSDFraming, changes: Int)? {
        current.withLock { $0.changes == changes ? nil : $0 }
    }

    func setFraming(_ framing: BSDFraming) {
        current.withLock { $0 = (framing, $0.changes + 1) }
    }

    func run(wake: WakeDescriptor, handler: @escaping TransportHandler, accepted: CInt?) {
        let loop = BSDConnectionLoop(connection: self, wake: wake, handler: handler)
        if let accepted {
            loop.serve(StreamSocket(accepted: accepted), reportStart: true)
        } else if let socket = loop.connect() {
            loop.serve(socket, reportStart: false)
        }
    }

    func threadEnded() { ended() }

    /// Ends an accepted connection for which no thread could be started.
    func fail(_ error: SystemError) {
        let (actions, handler) = core.end { $0.readFailed(error) }
        for case .report(let event) in actions { handler?(event) }
    }
}

extension BSDConnectionState: ThreadedConnectionState {}
