import ProbeSystem

/// The data that an ``AsyncSocket`` and its thread share.
final class AsyncSocketConnection: ThreadedConnection {
    let ends: ConnectionEnds
    let core: ConnectionCore<AsyncSocketState, AsyncSocketEvent>

    init(_ state: AsyncSocketState, ends: ConnectionEnds, handler: @escaping AsyncSocket.Handler) {
        self.ends = ends
        core = ConnectionCore(state, handler: handler)
    }

    func run(wake: WakeDescriptor, handler: @escaping AsyncSocket.Handler, accepted: CInt?) {
        let loop = AsyncSocketLoop(connection: self, wake: wake, handler: handler)
        if let accepted {
            loop.serve(StreamSocket(accepted: accepted), isAccepted: true)
        } else if let socket = loop.connect() {
            loop.serve(socket, isAccepted: false)
        }
    }

    /// Ends an accepted connection for which no thread could be started.
    func fail(_ error: SystemError) {
        let (actions, handler) = core.end { $0.connection.readFailed(error) }
        for case .report(.stopped(let reason, let detail)) in actions {
            handler?(.disconnected(reason, detail: detail, unread: []))
        }
    }
}

extension AsyncSocketState: ThreadedConnectionState {
    var isEnded: Bool { connection.isEnded }
}
