import ProbeSystem

/// The data that a `bsd` transport and its thread share.
final class BSDConnection: ThreadedConnection {
    let configuration: TransportConfiguration
    let framing: BSDFraming
    let core: ConnectionCore<BSDConnectionState, TransportEvent>
    private let ended: @Sendable () -> Void

    /// - Parameter threadEnded: called when the thread has ended and every descriptor is closed.
    init(
        configuration: TransportConfiguration, framing: BSDFraming, state: BSDConnectionState,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.framing = framing
        ended = threadEnded
        core = ConnectionCore(state, handler: handler)
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
