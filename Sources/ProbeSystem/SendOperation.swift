package import ProbeBase

/// One `send`: its bytes, where they are cut, how they are paced, and how far it is.
package final class SendOperation {
    /// When each piece may leave.
    package enum Pace: Sendable, Equatable {
        case atOnce
        /// Counted from when the piece before left: never less, no catching up.
        case every(Duration)
        /// Bytes a second, on average, from the first byte.
        case rate(Int)
    }

    package enum State: Sendable, Equatable {
        case queued
        case underWay
        /// The kernel has taken it all, at this time.
        case done(MonotonicTime)
        case failed(SystemError, MonotonicTime)
        /// The connection was closed before it was done.
        case abandoned
    }

    package let bytes: [UInt8]
    /// Offsets behind each piece; the last is `bytes.count`.
    package let ends: PieceEnds
    package let pace: Pace
    package let isUrgent: Bool
    /// Whether the script cut it (its pieces are then looked for on the wire).
    package let isCut: Bool

    package internal(set) var state: State = .queued
    /// Bytes that the kernel has taken.
    package internal(set) var taken = 0
    /// Position of the first byte in all that the connection sent.
    package internal(set) var streamOffset = 0
    /// When each finished piece had been taken.
    package internal(set) var departures: [MonotonicTime] = []
    /// When last a byte was taken by the kernel, or left it.
    package internal(set) var lastProgress: MonotonicTime

    var piece = 0
    var unsentSeen = 0
    var begun: MonotonicTime?

    /// - Parameter pieces: at least one; together they are the bytes of the statement.
    package init(pieces: [[UInt8]], pace: Pace, isUrgent: Bool, now: MonotonicTime) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for piece in pieces {
            bytes += piece
            ends.append(bytes.count)
        }
        isCut = pieces.count > 1
        if case .rate(let rate) = pace, !isCut {
            // A rate without cuts is kept in steps of 10 ms, or of a byte where that is slower.
            self.ends = PieceEnds(step: rate / 100, total: bytes.count)
        } else {
            self.ends = PieceEnds(ends)
        }
        self.bytes = bytes
        self.pace = pace
        self.isUrgent = isUrgent
        lastProgress = now
    }

    /// Lengths of the pieces.
    package var lengths: [Int] {
        ends.indices.map { ends[$0] - ($0 == 0 ? 0 : ends[$0 - 1]) }
    }

    /// When the next piece may leave, where it is paced: a wait for that is no lack of progress.
    package var nextDeparture: MonotonicTime? { piece < ends.count ? earliestDeparture() : nil }

    /// A wait for the pace counts as progress.
    package var lastProgressOrPace: MonotonicTime { max(lastProgress, nextDeparture ?? lastProgress) }

    /// The moment before which the current piece must not leave.
    func earliestDeparture() -> MonotonicTime? {
        guard piece > 0 || begun == nil else { return nil }
        switch pace {
        case .atOnce: return nil
        case .every(let interval): return departures.last.map { $0 + interval }
        case .rate(let rate):
            guard let begun, piece > 0 else { return nil }
            return begun + .nanoseconds(Int64((Double(ends[piece - 1]) / Double(max(1, rate)) * 1e9).rounded(.up)))
        }
    }
}

/// Offsets behind the pieces of a send. Pieces of one size take no memory: 200 MiB at 1 B/s are 200 million of them.
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

    /// Every `step` bytes, and behind the last; one piece at least.
    init(step: Int, total: Int) {
        listed = []
        self.step = Swift.max(1, step)
        self.total = total
        endIndex = Swift.max(1, (total - 1) / self.step + 1)
    }

    package subscript(position: Int) -> Int {
        precondition(indices.contains(position), "no such piece")
        if step == 0 { return listed[position] }
        // No overflow: the last product is less than a step beyond the bytes.
        return position == endIndex - 1 ? total : (position + 1) * step
    }
}
