/// Framed bytes that the kernel has not taken yet, in the order in which they were sent.
///
/// Unbounded: a transport queues in memory what a peer does not read. Appending and consuming are amortised constant time a byte.
struct SendQueue: Sendable {
    private var bytes: [UInt8] = []
    private var head = 0
    /// A frame of no bytes was queued behind everything else and not yet accounted for by ``consume(_:)``.
    private(set) var holdsEmptyFrame = false

    /// Bytes that wait.
    var count: Int { bytes.count - head }

    /// True when nothing waits, not even the account of a frame without bytes.
    var isEmpty: Bool { count == 0 && !holdsEmptyFrame }

    mutating func append(_ frame: [UInt8]) {
        if frame.isEmpty {
            holdsEmptyFrame = true
        } else {
            bytes.append(contentsOf: frame)
        }
    }

    /// Drops the first `written` bytes, and the mark of an empty frame once no byte is left before it.
    mutating func consume(_ written: Int) {
        head += min(max(written, 0), count)
        if head == bytes.count {
            holdsEmptyFrame = false
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
            head = 0
        } else if head >= Self.compactionThreshold, head >= bytes.count - head {
            bytes.removeSubrange(..<head)
            head = 0
        }
    }

    mutating func removeAll() {
        self = SendQueue()
    }

    /// Calls `body` with at most `limit` bytes from the front, for a system call.
    func withFront<Result>(limit: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { whole in
            body(UnsafeRawBufferPointer(rebasing: whole[head..<(head + min(limit, count))]))
        }
    }

    private static let compactionThreshold = 64 * 1024
    private static let keptCapacity = 256 * 1024
}
