package import ProbeBase

/// The queue of one direction of a proxied connection: the bytes that have been received but not forwarded, and the
/// times at which they may be forwarded.
///
/// The queue performs no I/O, and time is passed as an argument.
package struct ForwardQueue {
    package enum Gate: Sendable, Equatable {
        case open
        /// Nothing is forwarded, not even the end of the stream.
        case held
        /// Received bytes are dropped, but the end of the stream is forwarded.
        case discarding
    }

    /// The next action for the caller.
    package enum Action: Sendable, Equatable {
        /// Writes bytes; if `isApart` is set, they are sent as a separate segment.
        case write([UInt8], isApart: Bool)
        case end(ForwardEnd)
        /// Does nothing until the given time, unless more bytes, a FIN or an RST arrive.
        case wait(until: MonotonicTime)
        case idle
    }

    private struct Chunk {
        var bytes: ArraySlice<UInt8>
        var arrived: MonotonicTime
    }

    package private(set) var gate = Gate.open
    package private(set) var style = ForwardStyle<Resolved>()
    private var delay: Duration { style.delay ?? .zero }
    /// The time without new bytes after which joined bytes are forwarded.
    private static let joinPause = Duration.milliseconds(5)
    /// The number of bytes that may be forwarded before the direction is held; `nil` for no limit.
    private var allowance: Int?
    private var chunks: [Chunk] = []
    private var first = 0
    /// The number of bytes that have been received but not forwarded.
    package private(set) var waiting = 0
    /// Bytes that are sent before all waiting bytes, even while the direction is held.
    private var inserted: [UInt8] = []
    private var replacements: [ByteReplacement] = []
    private var end: (ForwardEnd, arrived: MonotonicTime)?
    /// Whether the end of the stream has been forwarded and nothing more will be forwarded.
    package private(set) var hasEnded = false
    /// The number of bytes that have been forwarded in the current forwarding style.
    private var position = 0
    private var cuts: CutPlaces
    /// Whether the last forwarded piece ended at a cut. The cut is counted when further bytes are forwarded.
    private var hasOpenCut = false
    /// The earliest time at which the pace allows the next piece to be forwarded.
    private var earliest: MonotonicTime?
    private var lastArrival: MonotonicTime?

    /// The effects of the steps, by step identifier.
    private var effects: [Int: ForwardEffect] = [:]
    /// The identifiers of the steps that are responsible for the forwarding style, for holding or discarding, for
    /// insertions, and for the requested end. An identifier is 0 if no step is responsible, or if the step's effect is
    /// not checked.
    private var styleID = 0
    private var gateID = 0
    private var insertIDs: [Int] = []
    private var endID = 0

    package init() { cuts = CutPlaces(nil) }

    /// Returns the effect of a step so far.
    package func effect(of id: Int) -> ForwardEffect {
        var effect = effects[id] ?? ForwardEffect()
        for replacement in replacements where replacement.id == id { effect.replaced += replacement.count }
        return effect
    }

    private mutating func note(_ id: Int, _ change: (inout ForwardEffect) -> Void) {
        if id > 0 { change(&effects[id, default: ForwardEffect()]) }
    }

    /// Records that a step has taken effect immediately.
    package mutating func noteActed(_ id: Int) { note(id) { $0.hasActed = true } }

    /// Whether received bytes may be forwarded immediately and unchanged, because nothing else must precede them.
    package var isTransparent: Bool {
        gate == .open && allowance == nil && style.isPlain && waiting == 0 && inserted.isEmpty && replacements.isEmpty
            && end == nil && !hasEnded && styleID == 0
    }

    /// Whether bytes, a FIN or an RST wait for their scheduled time or for the receiver, and no step holds them.
    package var isMoving: Bool { !hasEnded && (!inserted.isEmpty || gate != .held && (waiting > 0 || end != nil)) }

    /// Whether the sender has reset the connection, and no step holds back the reset.
    package var isCutOff: Bool {
        end?.0 == .reset && gate == .open && allowance == nil && style.isPlain && !hasEnded
    }

    // MARK: Input

    package mutating func append(_ bytes: [UInt8], at time: MonotonicTime) {
        if hasEnded || end != nil { return }
        if gate == .discarding { return note(gateID) { $0.dropped += bytes.count } }
        var bytes = bytes
        for index in replacements.indices { bytes = replacements[index].pass(bytes) }
        lastArrival = time
        add(bytes, at: time)
    }

    /// Puts bytes that were removed for forwarding, but not sent, back at the front of the queue.
    package mutating func putBack(_ bytes: [UInt8]) {
        if bytes.isEmpty || hasEnded { return }
        chunks.removeFirst(first)
        first = 0
        chunks.insert(Chunk(bytes: bytes[...], arrived: MonotonicTime(nanoseconds: 0)), at: 0)
        waiting += bytes.count
        note(styleID) { $0.passed -= bytes.count }
        hasOpenCut = false
        position -= bytes.count
        cuts.goBack(to: position)
    }

    private mutating func add(_ bytes: [UInt8], at time: MonotonicTime) {
        if bytes.isEmpty { return }
        chunks.append(Chunk(bytes: bytes[...], arrived: time))
        waiting += bytes.count
        noteIfHeld()
    }

    /// Records that waiting bytes are held back by a step, or by a forwarding style that delays them.
    private mutating func noteIfHeld() {
        guard waiting > 0 || end != nil, !hasEnded else { return }
        if gate == .held { note(gateID) { $0.hasKept = true } }
        if gate == .open, delay > .zero || style.isJoined, allowance == nil {
            note(styleID) { $0.hasKept = true }
        }
    }

    /// Appends a FIN or an RST that the peer sent or a step requested. Only the first FIN or RST has an effect, except
    /// that the peer's RST overtakes a waiting FIN.
    package mutating func append(_ end: ForwardEnd, at time: MonotonicTime) {
        if hasEnded { return }
        if let known = self.end?.0, !(end == .reset && known == .fin) { return }
        flushReplacements(at: time)
        self.end = (end, time)
        noteIfHeld()
    }

    /// Ends the search for matches in bytes that were held back, because no more bytes will follow.
    private mutating func flushReplacements(at time: MonotonicTime) {
        for index in replacements.indices {
            var rest = replacements[index].finish()
            for later in replacements.indices.dropFirst(index + 1) { rest = replacements[later].pass(rest) }
            add(rest, at: time)
        }
    }

    // MARK: Steps

    /// Forwards bytes in the given forwarding style from now on.
    ///
    /// - Parameter count: the number of bytes to forward before holding the direction; `nil` for no limit.
    package mutating func forward(_ style: ForwardStyle<Resolved>, count: Int? = nil, by id: Int = 0) {
        (styleID, gateID) = (id, id)
        hasOpenCut = false
        gate = count == 0 ? .held : .open
        allowance = count == 0 ? nil : count
        self.style = style
        position = 0
        cuts = CutPlaces(style.cut)
        earliest = nil
        noteIfHeld()
    }

    package mutating func hold(by id: Int = 0) {
        gateID = id
        gate = .held
        allowance = nil
        noteIfHeld()
    }

    /// Forwards held bytes in the forwarding style that was in effect before they were held.
    package mutating func release(by id: Int = 0) {
        if gate == .held, waiting > 0 || end != nil, !hasEnded { noteActed(id) }
        gate = .open
        allowance = nil
    }

    package mutating func discard(by id: Int = 0) {
        let dropped = waiting + inserted.count
        if dropped > 0 { note(id) { $0.dropped += dropped } }
        drop()
        gateID = id
        gate = .discarding
        allowance = nil
    }

    /// Drops all waiting bytes.
    package mutating func drop() {
        (chunks, first, waiting, inserted, insertIDs) = ([], 0, 0, [], [])
        for index in replacements.indices { _ = replacements[index].finish() }
    }

    /// Replaces bytes from now on, including bytes that are already waiting.
    package mutating func replace(
        _ original: [UInt8], with replacement: [UInt8], at time: MonotonicTime, by id: Int = 0
    ) {
        let bytes = take(waiting)
        replacements.append(ByteReplacement(original, with: replacement, by: id))
        add(replacements[replacements.count - 1].pass(bytes), at: lastArrival ?? time)
    }

    package mutating func insert(_ bytes: [UInt8], by id: Int = 0) {
        if hasEnded { return }
        inserted += bytes
        insertIDs.append(id)
    }

    /// Closes this direction of the connection at a step's request. Bytes that are being forwarded are sent first, and
    /// held bytes are dropped.
    package mutating func finish(_ end: ForwardEnd, at time: MonotonicTime, by id: Int = 0) {
        if gate != .open || allowance != nil {
            let (rest, ids) = (inserted, insertIDs)
            drop()
            (inserted, insertIDs) = (rest, ids)
        } else {
            flushReplacements(at: time)
        }
        gate = .open
        allowance = nil
        for known in replacements { note(known.id) { $0.replaced += known.count } }
        replacements = []
        self.end = (end, time)
        endID = id
    }

    /// Drops all queued bytes and ends the direction, because the receiving connection no longer exists.
    package mutating func abandon() {
        drop()
        end = nil
        hasEnded = true
    }

    // MARK: Output

    /// Returns the next action. Must be called whenever all previously forwarded bytes have been sent.
    package mutating func next(at now: MonotonicTime) -> Action {
        if hasEnded { return .idle }
        if !inserted.isEmpty {
            for id in insertIDs { noteActed(id) }
            defer { (inserted, insertIDs) = ([], []) }
            return .write(inserted, isApart: false)
        }
        if gate == .held { return .idle }
        guard waiting > 0 else { return nextEnd(at: now) }
        if let due = due(at: now), due > now {
            if let earliest, earliest - now >= ForwardEffect.shortestWait { note(styleID) { $0.hasPaced = true } }
            return .wait(until: due)
        }
        let count = nextCount(at: now)
        let bytes = take(count)
        position += count
        let isApart = cuts.endPiece(at: position)
        notePassed(count, isApart: isApart)
        if let allowance {
            self.allowance = allowance - count
            if allowance == count { hold(by: gateID) }
        }
        pace(count, at: now)
        return .write(bytes, isApart: isApart)
    }

    private mutating func notePassed(_ count: Int, isApart: Bool) {
        // Pieces of a fixed size are cut from the waiting bytes. A cut at an offset in the stream is counted when
        // further bytes are forwarded.
        let isCut: Bool
        if case .inPieces? = style.cut { isCut = waiting > 0 } else { isCut = hasOpenCut }
        hasOpenCut = isApart
        note(styleID) {
            $0.passed += count
            if isCut { $0.cuts += 1 }
        }
        if style.isPlain, allowance == nil { styleID = 0 }
    }

    private mutating func nextEnd(at now: MonotonicTime) -> Action {
        guard let (end, arrived) = end else { return .idle }
        let due = arrived + delay
        if end != .reset, due > now { return .wait(until: due) }
        hasEnded = true
        note(styleID) { $0.hasEnded = true }
        noteActed(endID)
        return .end(end)
    }

    /// Returns the earliest time at which the next piece may be forwarded.
    private func due(at now: MonotonicTime) -> MonotonicTime? {
        var due = chunks[first].arrived + delay
        if let earliest { due = max(due, earliest) }
        if style.isJoined, end == nil, waiting < Self.maxJoinedBytes, let lastArrival {
            let quiet = min(lastArrival + Self.joinPause, chunks[first].arrived + Self.longestJoin)
            due = max(due, quiet + delay)
        }
        return due
    }

    /// The number of waiting bytes at which joining stops and the bytes are forwarded.
    private static let maxJoinedBytes = 1 << 20
    /// The maximum time for which bytes are joined if the sender never pauses.
    private static let longestJoin = Duration.milliseconds(100)

    private func nextCount(at now: MonotonicTime) -> Int {
        var count = chunks[first].bytes.count
        if style.isJoined || style.cut != nil {
            // Cuts are defined by offsets in the stream, not by reads, so one piece may contain bytes from several
            // reads.
            count = chunks[first...].prefix { $0.arrived + delay <= now }.reduce(0) { $0 + $1.bytes.count }
        }
        if let length = cuts.lengthOfPiece(at: position) { count = min(count, length) }
        if case .rate(let rate)? = style.pace { count = min(count, max(1, rate / 100)) }
        if let allowance { count = min(count, allowance) }
        return max(1, min(count, waiting))
    }

    private mutating func pace(_ count: Int, at now: MonotonicTime) {
        switch style.pace {
        case nil: earliest = nil
        case .every(let interval)?: earliest = now + interval
        case .rate(let rate)?:
            let length = Duration.nanoseconds(Int64((Double(count) / Double(max(1, rate)) * 1e9).rounded(.up)))
            earliest = max(earliest ?? now, now + .milliseconds(-20)) + length
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        var taken: [UInt8] = []
        taken.reserveCapacity(count)
        while taken.count < count, first < chunks.count {
            let part = chunks[first].bytes.prefix(count - taken.count)
            taken += part
            chunks[first].bytes.removeFirst(part.count)
            if chunks[first].bytes.isEmpty { first += 1 }
        }
        waiting -= taken.count
        if first == chunks.count { (chunks, first) = ([], 0) }
        if first > 64, first * 2 > chunks.count {
            chunks.removeFirst(first)
            first = 0
        }
        return taken
    }
}
