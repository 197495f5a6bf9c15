import ProbeBase

/// Reads that were asked for, oldest first, and the bytes that came and that none of them has taken.
///
/// Pure: no I/O, no clock; times are monotonic nanoseconds that the caller gives. A read's timeout counts from when it became the
/// oldest: one that waits its turn does not run out.
struct ReadQueue: Sendable {
    /// One read: what it wants, how long it waits, and the caller's word for it.
    struct Request: Sendable, Equatable {
        var wanted: TransportRead
        /// Nanoseconds; nil: for ever.
        var timeout: Int64?
        var tag: Int
    }

    enum Outcome: Sendable, Equatable {
        /// Nothing that could be answered.
        case waiting
        case answer([UInt8], tag: Int)
        /// The delimiter did not come within the limit.
        case tooLong(tag: Int)
    }

    /// Bytes before a delimiter.
    private let limit: Int
    private var requests: [Request] = []
    private var buffer: [UInt8] = []
    private var head = 0
    /// Before this index the oldest read's delimiter does not begin.
    private var scanned = 0
    /// Of the oldest read.
    private(set) var deadline: Int64?

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Bytes that came and that no read has taken.
    var unread: [UInt8] { Array(buffer[head...]) }

    /// No byte is left to be read.
    var isDrained: Bool { head == buffer.count }

    /// A read waits.
    var isAsked: Bool { !requests.isEmpty }

    /// More bytes are wanted, or would show how the connection is: with bytes in hand and nobody asking the peer has to wait.
    var wantsMore: Bool { isAsked || isDrained }

    /// The oldest read, and how many bytes there are for it.
    var oldest: (request: Request, count: Int)? {
        requests.first.map { ($0, buffer.count - head) }
    }

    /// - Throws: `invalid` for a read of no bytes or without a delimiter, which could never or always be answered.
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

    /// Answers the oldest read, if it can be. Call until `waiting`.
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

    /// From here on the oldest read's time counts.
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
                // It may be the beginning of one: it is looked at again when more has come.
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

    /// Even if the delimiter began at the first byte that can still be one.
    private func isTooLong(before delimiter: [UInt8]) -> Bool { scanned - head > limit }
}
