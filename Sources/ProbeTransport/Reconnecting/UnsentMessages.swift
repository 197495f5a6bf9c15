import DequeModule

/// The messages that were passed to a connection and that the kernel has not accepted completely, in order.
///
/// A message whose last byte the kernel has accepted may have reached the peer, and is never sent again.
struct UnsentMessages {
    /// The messages, each with its framed length in bytes.
    private var queue: Deque<(message: [UInt8], length: Int)> = []
    /// The number of bytes of the first message that the kernel has accepted.
    private var passed = 0

    /// The messages, in the order in which they must be sent.
    var messages: some Sequence<[UInt8]> { queue.lazy.map(\.message) }

    mutating func append(_ message: [UInt8], length: Int) { queue.append((message, length)) }

    /// Records that the kernel has accepted `count` more bytes.
    mutating func sent(_ count: Int) {
        passed += count
        while let first = queue.first, passed >= first.length {
            passed -= first.length
            queue.removeFirst()
        }
    }

    /// Records that the connection is lost, and drops the message that the peer may have received in part.
    ///
    /// - Returns: the number of bytes of the dropped message that the kernel had not accepted.
    mutating func lost() -> Int {
        guard passed > 0, let first = queue.popFirst() else { return 0 }
        defer { passed = 0 }
        return first.length - passed
    }

    /// Drops all messages.
    ///
    /// - Returns: the number of dropped bytes that the kernel had not accepted.
    mutating func giveUp() -> Int {
        defer { (queue, passed) = ([], 0) }
        return queue.reduce(0) { $0 + $1.length } - passed
    }
}
