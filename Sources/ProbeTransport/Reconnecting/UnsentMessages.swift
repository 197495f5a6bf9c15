import DequeModule

/// Messages that were passed to a connection and that the kernel has not taken completely, in order.
///
/// A message whose last byte was taken may have reached the peer, and is never sent again.
struct UnsentMessages {
    /// The messages, each with the length that it has when framed.
    private var queue: Deque<(message: [UInt8], length: Int)> = []
    /// The number of bytes of the first message that were taken.
    private var passed = 0

    /// The messages, in the order in which they must be sent.
    var messages: some Sequence<[UInt8]> { queue.lazy.map(\.message) }

    mutating func append(_ message: [UInt8], length: Int) { queue.append((message, length)) }

    /// Notes that the kernel has taken `count` more bytes.
    mutating func sent(_ count: Int) {
        passed += count
        while let first = queue.first, passed >= first.length {
            passed -= first.length
            queue.removeFirst()
        }
    }

    /// Notes that the connection is lost, and drops a message of which the peer may have a part.
    ///
    /// - Returns: the number of its bytes that were not taken.
    mutating func lost() -> Int {
        guard passed > 0, let first = queue.popFirst() else { return 0 }
        defer { passed = 0 }
        return first.length - passed
    }

    /// Drops all messages.
    ///
    /// - Returns: the number of their bytes that were not taken.
    mutating func giveUp() -> Int {
        defer { (queue, passed) = ([], 0) }
        return queue.reduce(0) { $0 + $1.length } - passed
    }
}
