import ProbeSystem
import ProbeBase

extension BSDConnectionLoop {
    /// Resolves the host and tries its addresses; reports `started` or `stopped`.
    ///
    /// - Returns: nil if there is no connection: it failed, took too long, or is not wanted any more.
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

    /// - Returns: the deadline for connecting; nil if connecting has ended, which is then reported.
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
        // If `stop()` was called first, that is reported.
        _ = stillConnecting()
    }

    private func reportAll(_ actions: [BSDConnectionState.Action]) {
        for case .report(let event) in actions { report(event) }
    }
}
