import ProbeBase

/// The decision logic of an ``AsyncSocket``: a ``BSDConnectionState`` with queues of reads and writes. The socket, the
/// thread and the clock belong to the caller.
///
/// There are two differences from the transport `bsd`. Nothing is read from the kernel while no read is queued and
/// received bytes are in memory. The peer's FIN ends the connection when all bytes before it have been read, or when
/// the oldest read can no longer be completed.
struct AsyncSocketState: Sendable {
    /// The next action for the queued reads.
    enum Step: Sendable, Equatable {
        case wait
        case deliver([UInt8], tag: Int)
        case act([BSDConnectionState.Action])
    }

    var connection: BSDConnectionState
    private(set) var reads: ReadQueue
    private(set) var writes = WriteQueue()
    /// Whether the peer's FIN has arrived.
    private var peerHasClosed = false

    init(_ connection: BSDConnectionState, limit: Int) {
        self.connection = connection
        reads = ReadQueue(limit: limit)
    }

    // MARK: Requests of the owner

    mutating func read(_ request: ReadQueue.Request, now: Int64) throws(TransportError) {
        try connection.requireOpen()
        try reads.append(request, now: now)
    }

    /// Queues a write. Does nothing if there are no bytes to write.
    mutating func write(_ bytes: [UInt8], timeout: Int64?, tag: Int, now: Int64) throws(TransportError) {
        guard !bytes.isEmpty else { return try connection.requireSendable() }
        try connection.send(bytes, now: now)
        writes.append(count: bytes.count, timeout: timeout, tag: tag, now: now)
    }

    // MARK: Results of the socket's calls

    /// Records that the connection is established.
    ///
    /// - Returns: `nil` if connecting was cancelled or has timed out.
    mutating func connected(now: Int64) -> [BSDConnectionState.Action]? {
        // The timeouts of reads and writes that were queued while connecting start now.
        reads.start(now: now)
        writes.start(now: now)
        return connection.connected(now: now)
    }

    mutating func received(_ bytes: some Collection<UInt8>, now: Int64) {
        connection.received(now: now)
        if !connection.discardsInput { reads.received(bytes) }
    }

    mutating func readReachedEOF(now: Int64) -> [BSDConnectionState.Action] {
        if connection.wouldEndByEOF {
            peerHasClosed = true
            return []
        }
        return connection.readReachedEOF(now: now)
    }

    mutating func wrote(_ count: Int, now: Int64) -> (actions: [BSDConnectionState.Action], [WriteQueue.Progress]) {
        (connection.wrote(count, now: now), writes.wrote(count, now: now))
    }

    // MARK: Next steps

    var wantsRead: Bool {
        guard connection.wantsRead else { return false }
        // After a failed write, the socket must be read at once to find out how the connection ended.
        if connection.discardsInput || connection.outgoing.failure != nil { return true }
        return !peerHasClosed && reads.wantsMore
    }

    var deadline: Int64? {
        guard connection.delivers else { return connection.deadline }
        return [connection.deadline, reads.deadline, writes.deadline].compactMap(\.self).min()
    }

    /// Returns the next action for the queued reads and for the timeouts. Must be called until it returns `wait`.
    mutating func nextStep(now: Int64) -> Step {
        guard connection.delivers else { return .wait }
        switch reads.next(now: now) {
        case .answer(let bytes, let tag): return .deliver(bytes, tag: tag)
        case .tooLong(let tag):
            return .act(connection.inputFailed(.tooLong, "read \(tag): no delimiter within the limit", now: now))
        case .waiting: break
        }
        if peerHasClosed, reads.isDrained || reads.isAsked {
            return .act(connection.readReachedEOF(now: now))
        }
        if let deadline = reads.deadline, now >= deadline, let (request, count) = reads.oldest {
            let time = (request.timeout ?? 0) / 1_000_000
            let detail =
                "read \(request.tag) did not complete within \(time) ms; \(ByteText.count(count, "byte")) received"
            return .act(connection.inputFailed(.timeout, detail, now: now))
        }
        if let deadline = writes.deadline, now >= deadline, let (tag, rest) = writes.oldest {
            return .act(
                connection.outputFailed(
                    .timeout,
                    "write \(tag) did not complete in time; \(ByteText.count(rest, "byte")) unwritten"))
        }
        return .wait
    }
}
