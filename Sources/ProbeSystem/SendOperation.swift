package import ProbeBase
import Glibc

/// A `send` step: its bytes, the offsets at which they are divided, its pace, and its progress.
package final class SendOperation {
    package enum State: Sendable, Equatable {
        case queued
        case underWay
        /// The kernel had accepted all bytes by the given time.
        case done(MonotonicTime)
        case failed(SystemError, MonotonicTime)
        /// The connection was closed before the send was complete.
        case abandoned
    }

    package let bytes: [UInt8]
    /// The offset after each piece; the last offset is `bytes.count`.
    package let ends: PieceEnds
    package let pace: Pace?
    package let isUrgent: Bool
    /// Whether the script divides the bytes into pieces. If so, the pieces are looked for in the capture.
    package let isCut: Bool
    /// Whether the FIN is sent in the same segment as the last piece.
    package let carriesFIN: Bool

    package internal(set) var state: State = .queued
    /// The number of bytes that the kernel has accepted.
    package internal(set) var taken = 0
    /// The position of the first byte in the connection's outgoing stream.
    package internal(set) var streamOffset = 0
    /// The time by which the kernel had accepted each completed piece.
    package internal(set) var departures: [MonotonicTime] = []
    /// The time at which the kernel last accepted or sent a byte.
    package internal(set) var lastProgress: MonotonicTime

    var piece = 0
    var unsentSeen = 0
    var begun: MonotonicTime?

    /// Creates a send.
    ///
    /// - Parameters:
    ///   - pieces: at least one piece; together, the pieces contain the bytes of the statement.
    ///   - carriesFIN: whether this is the connection's last send, and the FIN is sent with its last piece.
    ///   - leavesAlone: whether even a single piece must be sent in its own segment.
    package init(
        pieces: [[UInt8]], pace: Pace? = nil, isUrgent: Bool, now: MonotonicTime, leavesAlone: Bool = false,
        carriesFIN: Bool = false
    ) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for piece in pieces {
            bytes += piece
            ends.append(bytes.count)
        }
        isCut = pieces.count > 1 || leavesAlone
        if case .rate(let rate)? = pace, !isCut {
            // A send with a rate but without cuts is divided into steps of 10 ms, or of one byte if a byte takes
            // longer.
            self.ends = PieceEnds(step: rate / 100, total: bytes.count)
        } else {
            self.ends = PieceEnds(ends)
        }
        self.bytes = bytes
        self.pace = pace
        self.isUrgent = isUrgent
        self.carriesFIN = carriesFIN
        lastProgress = now
    }

    /// The length of each piece of the send.
    package var lengths: [Int] {
        ends.indices.map { ends[$0] - ($0 == 0 ? 0 : ends[$0 - 1]) }
    }

    /// The earliest time at which the next piece may be sent, if the pace determines it.
    package var nextDeparture: MonotonicTime? { piece < ends.count ? earliestDeparture() : nil }

    /// The maximum number of bytes to hold back until the FIN. The number is small, because the kernel holds back at
    /// most half of the peer's window.
    private static let maxHeldBack = 16 << 10

    /// Returns the end of the next write of a piece, and the flags for its call to `send`. Before the last write of a
    /// send that carries the FIN, TCP_CORK informs the socket that more data follows: a segment that is not full then
    /// waits for the FIN. MSG_MORE alone does not suffice, because an ACK would release the segment.
    func nextWrite(upTo end: Int, to socket: Int32) -> (stop: Int, flags: Int32) {
        let flags = Int32(MSG_NOSIGNAL) | (isUrgent ? Int32(MSG_OOB) : 0)
        guard carriesFIN, end == bytes.count else { return (end, flags) }
        if end - taken > Self.maxHeldBack { return (end - Self.maxHeldBack / 2, flags) }
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &on, socklen_t(MemoryLayout<Int32>.size))
        return (end, flags | Int32(MSG_MORE))
    }

    /// The time at which the send last made progress; waiting for the pace counts as progress.
    package var lastProgressOrPace: MonotonicTime { max(lastProgress, nextDeparture ?? lastProgress) }

    /// Returns the earliest time at which the current piece may be sent.
    func earliestDeparture() -> MonotonicTime? {
        guard piece > 0 || begun == nil else { return nil }
        switch pace {
        case nil: return nil
        case .every(let interval)?: return departures.last.map { $0 + interval }
        case .rate(let rate)?:
            guard let begun, piece > 0 else { return nil }
            return begun + .nanoseconds(Int64((Double(ends[piece - 1]) / Double(max(1, rate)) * 1e9).rounded(.up)))
        }
    }
}

/// The end offset of each piece of a send. The offsets of pieces of equal size are computed rather than stored, because
/// a send of 200 MiB at 1 B/s has over 200 million pieces.
package struct PieceEnds: RandomAccessCollection, Sendable {
    private let listed: [Int]
    private let step: Int
    private let total: Int
    package let endIndex: Int

    package var startIndex: Int { 0 }

    init(_ ends: [Int]) {
        listed = ends
        step = 0
        total = ends.last ?? 0
        endIndex = ends.count
    }

    /// Creates ends after every `step` bytes and at the end of the data; there is at least one piece.
    init(step: Int, total: Int) {
        listed = []
        self.step = Swift.max(1, step)
        self.total = total
        endIndex = Swift.max(1, (total - 1) / self.step + 1)
    }

    package subscript(position: Int) -> Int {
        precondition(indices.contains(position), "no such piece")
        if step == 0 { return listed[position] }
        // The multiplication can't overflow: the last product exceeds `total` by less than a step.
        return position == endIndex - 1 ? total : (position + 1) * step
    }
}
