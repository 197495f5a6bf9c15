import DequeModule

/// Messages that were given to a connection and are not wholly passed to the kernel, in order.
///
/// A message whose last byte was passed may have reached the peer: it is never sent again.
struct UnsentMessages {
    /// With the length that it has when framed.
    private var queue: Deque<(message: [UInt8], length: Int)> = []
    /// Bytes of the first one that were passed.
    private var passed = 0

    /// In the order in which they are to be sent.
    var messages: some Sequence<[UInt8]> { queue.lazy.map(\.message) }

    mutating func append(_ message: [UInt8], length: Int) { queue.append((message, length)) }

    /// That many more bytes were passed to the kernel.
    mutating func sent(_ count: Int) {
        passed += count
        while let first = queue.first, passed >= first.length {
            passed -= first.length
            queue.removeFirst()
        }
    }

    /// The connection is lost: a message of which the peer may have a part is given up.
    ///
    /// - Returns: its bytes that were not passed.
    mutating func lost() -> Int {
        guard passed > 0, let first = queue.popFirst() else { return 0 }
        defer { passed = 0 }
        return first.length - passed
    }

    /// All of them are given up.
    ///
    /// - Returns: their bytes that were not passed.
    mutating func giveUp() -> Int {
        defer { (queue, passed) = ([], 0) }
        return queue.reduce(0) { $0 + $1.length } - passed
    }
}
