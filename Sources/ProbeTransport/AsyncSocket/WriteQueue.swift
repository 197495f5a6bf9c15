/// The progress and the timeouts of the queued writes, oldest first. The bytes to write are in a ``SendQueue``.
///
/// Like ``ReadQueue``, the queue has no I/O and no clock, and the timeout of a write starts when the write becomes the
/// oldest.
struct WriteQueue: Sendable {
    enum Progress: Sendable, Equatable {
        case partial(Int, tag: Int)
        /// The kernel has accepted the given number of bytes, which are the last bytes of the write.
        case done(Int, tag: Int)
    }

    private struct Write: Sendable {
        var rest: Int
        var timeout: Int64?
        var tag: Int
    }

    private var writes: [Write] = []
    private var head = 0
    /// The deadline of the oldest write; `nil` if it has no timeout.
    private(set) var deadline: Int64?

    /// The tag of the oldest write, and the number of its bytes that have not been written.
    var oldest: (tag: Int, rest: Int)? { head < writes.count ? (writes[head].tag, writes[head].rest) : nil }

    mutating func append(count: Int, timeout: Int64?, tag: Int, now: Int64) {
        writes.append(Write(rest: count, timeout: timeout, tag: tag))
        if writes.count - head == 1 { start(now: now) }
    }

    /// Records that the kernel has accepted `count` bytes, and returns the progress of the writes that contain them.
    mutating func wrote(_ count: Int, now: Int64) -> [Progress] {
        var count = count
        var progress: [Progress] = []
        while count > 0, head < writes.count {
            let part = min(count, writes[head].rest)
            count -= part
            writes[head].rest -= part
            let tag = writes[head].tag
            if writes[head].rest > 0 {
                progress.append(.partial(part, tag: tag))
            } else {
                progress.append(.done(part, tag: tag))
                head += 1
                start(now: now)
            }
        }
        if head >= 1024, head >= writes.count - head {
            writes.removeSubrange(..<head)
            head = 0
        }
        return progress
    }

    /// Starts the timeout of the oldest write.
    mutating func start(now: Int64) {
        deadline = nil
        guard head < writes.count, let timeout = writes[head].timeout else { return }
        let (sum, overflow) = now.addingReportingOverflow(timeout)
        deadline = overflow ? .max : sum
    }
}
