import ProbeSystem

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

/// What a connection sends: the bytes that wait, FIN behind them, and why they can't be written any more.
struct OutgoingStream: Sendable {
    private enum FIN: Sendable { case none, wanted, sent }

    private(set) var queue = SendQueue()
    /// Why a `send` failed. Kept, because the error that a `send` returns is no longer there for `recv`.
    private(set) var failure: SystemError?
    private var fin = FIN.none

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }
    /// Something waits that can still be written.
    var isWaiting: Bool { !queue.isEmpty && failure == nil }
    /// Nothing may follow what waits.
    var isEnding: Bool { fin != .none }

    mutating func append(_ frame: [UInt8]) { queue.append(frame) }
    mutating func consume(_ written: Int) { queue.consume(written) }

    /// FIN is to follow what waits.
    mutating func end() {
        if fin == .none { fin = .wanted }
    }

    mutating func fail(_ error: SystemError) {
        failure = error
        queue.removeAll()
    }

    /// Whether FIN is due now, which is then sent.
    ///
    /// - Parameter closing: it is wanted in any case.
    mutating func takeFIN(closing: Bool) -> Bool {
        guard fin != .sent, closing || fin == .wanted, queue.isEmpty, failure == nil else { return false }
        fin = .sent
        return true
    }
}
