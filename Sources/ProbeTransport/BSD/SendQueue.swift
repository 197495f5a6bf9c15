import ProbeSystem

/// The framed bytes that the kernel has not accepted yet, in the order of sending.
///
/// The queue has no limit: a transport keeps in memory all data that the peer does not read. Appending and consuming
/// take amortized constant time for each byte.
struct SendQueue: Sendable {
    private var bytes: [UInt8] = []
    private var head = 0
    /// Whether the queue holds an empty frame, which ``consume(_:)`` removes once all preceding bytes have been
    /// consumed.
    private(set) var holdsEmptyFrame = false

    /// The number of queued bytes.
    var count: Int { bytes.count - head }

    /// Whether nothing is queued, not even an empty frame.
    var isEmpty: Bool { count == 0 && !holdsEmptyFrame }

    mutating func append(_ frame: [UInt8]) {
        if frame.isEmpty {
            holdsEmptyFrame = true
        } else {
            bytes.append(contentsOf: frame)
        }
    }

    /// Drops the first `written` bytes of the queue. If no queued bytes are left, an empty frame in the queue is also
    /// dropped.
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

/// The outgoing stream of a connection: the queued bytes, the FIN after them, and the error after which nothing more
/// can be written.
struct OutgoingStream: Sendable {
    private enum FIN: Sendable { case none, wanted, sent }

    private(set) var queue = SendQueue()
    /// The error with which a `send` failed. It is kept because `recv` does not return the same error again.
    private(set) var failure: SystemError?
    private var fin = FIN.none

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }
    /// Whether there are queued bytes that can still be written.
    var isWaiting: Bool { !queue.isEmpty && failure == nil }
    /// Whether a FIN was requested or sent. If so, nothing more may be queued.
    var isEnding: Bool { fin != .none }

    mutating func append(_ frame: [UInt8]) { queue.append(frame) }
    mutating func consume(_ written: Int) { queue.consume(written) }

    /// Requests a FIN after the queued bytes.
    mutating func end() {
        if fin == .none { fin = .wanted }
    }

    mutating func fail(_ error: SystemError) {
        failure = error
        queue.removeAll()
    }

    /// Returns whether a FIN must be sent now. If so, the FIN is recorded as sent.
    ///
    /// - Parameter closing: whether a FIN is needed even if none was requested.
    mutating func takeFIN(closing: Bool) -> Bool {
        guard fin != .sent, closing || fin == .wanted, queue.isEmpty, failure == nil else { return false }
        fin = .sent
        return true
    }
}
