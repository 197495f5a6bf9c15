import Glibc

extension BSDConnectionLoop {
    /// Looks the host up and tries its addresses; reports `started`, or `stopped`.
    ///
    /// - Returns: nil when there is no connection: it failed, took too long, or is no longer wanted.
    func connect() -> StreamSocket? {
        let configuration = connection.configuration
        let wake = wake
        let lookup = NameResolution(host: configuration.host, port: configuration.port) { wake.wake() }
        while true {
            guard let deadline = stillConnecting() else { return nil }
            switch lookup.result {
            case .success(let addresses): return race(addresses)
            case .failure(let failure):
                fail(ConnectRace.Failure(reason: .other, detail: failure.detail))
                return nil
            case nil:
                var entries = [Polling.entry(wake.descriptor, read: true, write: false)]
                Polling.wait(&entries, until: deadline, now: MonotonicClock.now)
                if entries[0].isReadable { wake.clear() }
            }
        }
    }

    private typealias Attempt = (socket: StreamSocket, address: SocketAddress)

    private func race(_ addresses: [SocketAddress]) -> StreamSocket? {
        var race = ConnectRace(addressCount: addresses.count)
        var attempts: [Attempt] = []
        while true {
            guard let deadline = stillConnecting() else { return nil }
            while let index = race.next(now: MonotonicClock.now) {
                let address = addresses[index]
                do throws(SystemError) {
                    let socket = try StreamSocket(family: address.family)
                    // One that is connected already is found so by the poll below.
                    if case .failed(let error) = socket.connect(to: address) { throw error }
                    attempts.append((socket, address))
                } catch {
                    race.attemptFailed(failure(error, address), now: MonotonicClock.now)
                }
            }
            if let failure = race.outcome {
                fail(failure)
                return nil
            }
            var entries = [Polling.entry(wake.descriptor, read: true, write: false)]
            entries += attempts.map { Polling.entry($0.socket.descriptor, read: false, write: true) }
            Polling.wait(&entries, until: min(deadline, race.deadline ?? .max), now: MonotonicClock.now)
            if entries[0].isReadable { wake.clear() }
            for index in attempts.indices.reversed() where entries[index + 1].revents != 0 {
                let attempt = attempts[index]
                guard let failed = failure(of: attempt, entries[index + 1]) else {
                    return begin(attempt.socket) ? attempt.socket : nil
                }
                attempts.remove(at: index)
                attempt.socket.shut()
                race.attemptFailed(failed, now: MonotonicClock.now)
            }
        }
    }

    /// Why an attempt that `poll` found decided did not succeed; nil when it did, even if the peer has reset it since.
    ///
    /// `recv` is asked, not SO_ERROR: from a connection that was there and is reset by now, that would take the reset away.
    private func failure(of attempt: Attempt, _ entry: pollfd) -> ConnectRace.Failure? {
        if attempt.socket.isConnectedToItself {
            let detail = "\(attempt.address.text): connected to itself, nobody listens"
            return ConnectRace.Failure(reason: .refused, detail: detail)
        }
        guard entry.hasFailed else { return nil }
        let outcome = attempt.socket.receive(into: buffer)
        if case .failed(let error) = outcome, error.code != ECONNRESET { return failure(error, attempt.address) }
        if outcome != .wouldBlock { firstRead = outcome }
        return nil
    }

    private func failure(_ error: SystemError, _ address: SocketAddress) -> ConnectRace.Failure {
        let reason: StopReason =
            switch error.reason {
            case .refused, .timeout: error.reason
            default: .other
            }
        return ConnectRace.Failure(reason: reason, detail: "\(address.text): \(error.text)")
    }

    /// - Returns: the deadline of connecting; nil when that is over, which is then reported.
    private func stillConnecting() -> Int64? {
        let now = MonotonicClock.now
        let (actions, deadline) = connection.inspect { state in
            (state.settle(now: now), state.isConnecting ? state.deadline : nil)
        }
        reportAll(actions)
        return deadline
    }

    private func begin(_ socket: StreamSocket) -> Bool {
        let now = MonotonicClock.now
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
        // Where `stop()` came first, that is what is reported.
        _ = stillConnecting()
    }

    private func reportAll(_ actions: [BSDConnectionState.Action]) {
        for case .report(let event) in actions { report(event) }
    }
}
