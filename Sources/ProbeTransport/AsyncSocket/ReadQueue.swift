import ProbeBase

/// The queued reads, oldest first, and the received bytes that have not been returned by a read.
///
/// The queue has no I/O and no clock: the caller passes times as monotonic nanoseconds. The timeout of a read starts
/// when the read becomes the oldest, so a read that waits for an earlier read does not time out.
struct ReadQueue: Sendable {
    /// A queued read.
    struct Request: Sendable, Equatable {
        var wanted: TransportRead
        /// The timeout in nanoseconds; `nil` for none.
        var timeout: Int64?
        var tag: Int
    }

    enum Outcome: Sendable, Equatable {
        /// No read can be completed.
        case waiting
        case answer([UInt8], tag: Int)
        /// The delimiter was not received within the maximum number of bytes.
        case tooLong(tag: Int)
    }

    /// The maximum number of bytes that may precede a delimiter.
    private let limit: Int
    private var requests: [Request] = []
    private var buffer: [UInt8] = []
    private var head = 0
    /// The first index of `buffer` at which the oldest read's delimiter can still begin.
    private var scanned = 0
    /// The deadline of the oldest read; `nil` if it has no timeout.
    private(set) var deadline: Int64?

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// The received bytes that have not been returned by a read.
    var unread: [UInt8] { Array(buffer[head...]) }

    /// Whether all received bytes have been returned by reads.
    var isDrained: Bool { head == buffer.count }

    /// Whether a read is queued.
    var isAsked: Bool { !requests.isEmpty }

    /// Whether to read from the kernel, for a queued read or to notice the end of the connection. While received bytes
    /// are in memory and no read is queued, nothing more is read, so that the peer must wait.
    var wantsMore: Bool { isAsked || isDrained }

    /// The oldest read, and the number of bytes that are available for it.
    var oldest: (request: Request, count: Int)? {
        requests.first.map { ($0, buffer.count - head) }
    }

    /// Queues a read.
    ///
    /// - Throws: `invalid` for a length of 0, and for an empty delimiter.
    mutating func append(_ request: Request, now: Int64) throws(TransportError) {
        switch request.wanted {
        case .length(let count): if count < 1 { throw .invalid }
        case .until(let delimiter): if delimiter.isEmpty { throw .invalid }
        case .any: break
        }
        requests.append(request)
        if requests.count == 1 { start(now: now) }
    }

    mutating func received(_ bytes: some Collection<UInt8>) {
        if head > 0, head >= buffer.count - head {
            buffer.removeSubrange(..<head)
            scanned = max(0, scanned - head)
            head = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Completes the oldest read, if possible. Must be called until it returns `waiting`.
    mutating func next(now: Int64) -> Outcome {
        guard let request = requests.first, !isDrained else { return .waiting }
        let count: Int
        switch request.wanted {
        case .any: count = buffer.count - head
        case .length(let length):
            guard buffer.count - head >= length else { return .waiting }
            count = length
        case .until(let delimiter):
            guard let found = find(delimiter) else {
                return isTooLong(before: delimiter) ? .tooLong(tag: request.tag) : .waiting
            }
            if found - head > limit { return .tooLong(tag: request.tag) }
            count = found - head + delimiter.count
        }
        let answer = Array(buffer[head..<(head + count)])
        head += count
        requests.removeFirst()
        start(now: now)
        return .answer(answer, tag: request.tag)
    }

    /// Starts the timeout of the oldest read.
    mutating func start(now: Int64) {
        scanned = head
        deadline = requests.first?.timeout.map { timeout in
            let (sum, overflow) = now.addingReportingOverflow(timeout)
            return overflow ? .max : sum
        }
    }

    private mutating func find(_ delimiter: [UInt8]) -> Int? {
        var start = max(scanned, head)
        while let index = buffer.span.firstIndex(of: delimiter[0], from: start) {
            let end = index + delimiter.count
            if end > buffer.count {
                // The last bytes may be the beginning of a delimiter, and are examined again when more bytes have
                // arrived.
                if delimiter.starts(with: buffer[index...]) {
                    scanned = index
                    return nil
                }
            } else if buffer[index..<end].elementsEqual(delimiter) {
                return index
            }
            start = index + 1
        }
        scanned = buffer.count
        return nil
    }

    /// Returns whether the limit is exceeded even if the delimiter begins at the first index that is still possible.
    private func isTooLong(before delimiter: [UInt8]) -> Bool { scanned - head > limit }
}
