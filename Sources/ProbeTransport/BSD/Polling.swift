import Glibc

/// Calls `poll(2)` with a deadline on the monotonic clock.
enum Polling {
    /// Waits until an entry is ready or the deadline has passed. If a signal interrupts the wait, no entry is marked as
    /// ready.
    ///
    /// `poll` takes milliseconds, so the timeout is rounded up: when the wait times out, the deadline has passed.
    static func wait(_ entries: inout [pollfd], until deadline: Int64?, now: Int64) {
        var timeout: CInt = -1
        if let deadline, deadline != .max {
            let rest = max(0, deadline &- now)
            timeout = CInt(clamping: rest / 1_000_000 + (rest % 1_000_000 == 0 ? 0 : 1))
        }
        let result = poll(&entries, nfds_t(entries.count), timeout)
        if result < 0 {
            for index in entries.indices { entries[index].revents = 0 }
        }
    }

    /// Waits for a connection's socket, and for another thread to wake this one.
    ///
    /// - Parameter errors: whether to wait for the connection's failure if neither reading nor writing is requested.
    /// - Returns: which descriptors are ready. The wake descriptor has been cleared.
    static func wait(
        for wake: WakeDescriptor, _ socket: StreamSocket, read: Bool, write: Bool, errors: Bool = false,
        until deadline: Int64?, now: Int64
    ) -> (isWoken: Bool, isReadable: Bool, isWritable: Bool, hasFailed: Bool) {
        var entries = [
            entry(wake.descriptor, read: true, write: false), entry(socket.descriptor, read: read, write: write),
        ]
        if errors { entries[1].fd = socket.descriptor }
        wait(&entries, until: deadline, now: now)
        let isWoken = entries[0].isReadable
        if isWoken { wake.clear() }
        return (
            isWoken, read && entries[1].isReadable, write && entries[1].isWritable, errors && entries[1].hasFailed
        )
    }

    /// Returns an entry for `poll`. A descriptor for which nothing is requested is excluded, because `poll` would
    /// repeatedly return at once with POLLERR or POLLHUP.
    static func entry(_ descriptor: CInt, read: Bool, write: Bool) -> pollfd {
        let events = (read ? CShort(POLLIN) : 0) | (write ? CShort(POLLOUT) : 0)
        return pollfd(fd: events == 0 ? -1 : descriptor, events: events, revents: 0)
    }
}

extension pollfd {
    /// Whether a read would return at once, with bytes, EOF or an error.
    var isReadable: Bool { revents & CShort(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 }
    /// Whether a write would return at once.
    var isWritable: Bool { revents & CShort(POLLOUT | POLLHUP | POLLERR | POLLNVAL) != 0 }
    /// Whether the connection has ended or failed.
    var hasFailed: Bool { revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0 }
}
