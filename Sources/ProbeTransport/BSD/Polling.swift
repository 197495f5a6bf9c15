import Glibc

/// `poll(2)` with a deadline on the monotonic clock.
enum Polling {
    /// Waits until an entry is ready or the deadline has come; interrupted, it returns with nothing ready.
    ///
    /// The kernel counts milliseconds: the deadline is rounded up, so that it has passed when the wait ends by it.
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

    /// A descriptor of which nothing is wanted is left out: POLLERR and POLLHUP come unasked, and would never stop coming.
    static func entry(_ descriptor: CInt, read: Bool, write: Bool) -> pollfd {
        let events = (read ? CShort(POLLIN) : 0) | (write ? CShort(POLLOUT) : 0)
        return pollfd(fd: events == 0 ? -1 : descriptor, events: events, revents: 0)
    }
}

extension pollfd {
    /// Reading would not block: bytes, EOF or an error.
    var isReadable: Bool { revents & CShort(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 }
    /// Writing would not block.
    var isWritable: Bool { revents & CShort(POLLOUT | POLLHUP | POLLERR | POLLNVAL) != 0 }
    /// Something ended, or failed.
    var hasFailed: Bool { revents & CShort(POLLHUP | POLLERR | POLLNVAL) != 0 }
}
