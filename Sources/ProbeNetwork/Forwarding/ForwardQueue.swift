package import ProbeBase

/// One direction of a proxied connection: what has come and has not gone on, and when it may. Pure: it opens and reads nothing, and time
/// is an argument.
package struct ForwardQueue {
    package enum Gate: Sendable, Equatable {
        case open
        /// Nothing goes on, the end neither.
        case held
        /// What comes is dropped; the end goes on.
        case discarding
    }

    /// What is to be done next.
    package enum Action: Sendable, Equatable {
        /// - Parameter isApart: as a segment of its own.
        case write([UInt8], isApart: Bool)
        case end(ForwardEnd)
        /// Nothing before this moment, unless something else comes.
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
    /// How long nothing has to come before what is joined goes on.
    private static let joinPause = Duration.milliseconds(5)
    /// So many bytes go on, and then it holds.
    private var allowance: Int?
    private var chunks: [Chunk] = []
    private var first = 0
    /// Bytes that have come and have not gone on.
    package private(set) var waiting = 0
    /// Goes on before all that waits, also while it holds.
    private var inserted: [UInt8] = []
    private var replacements: [ByteReplacement] = []
    private var end: (ForwardEnd, arrived: MonotonicTime)?
    /// The end has gone on: nothing goes on behind it.
    package private(set) var hasEnded = false
    /// Bytes that went on since the style began.
    private var position = 0
    private var cuts: CutPlaces
    /// A cut was made at the end of what went on last: it is one once more goes on.
    private var hasOpenCut = false
    /// Before this moment the pace lets nothing go on.
    private var earliest: MonotonicTime?
    private var lastArrival: MonotonicTime?

    /// What steps have done, by their numbers.
    private var effects: [Int: ForwardEffect] = [:]
    /// The steps that are in force, by their numbers: of the style, of what is held or dropped, of what is inserted and of the end that was
    /// asked for. 0: none whose effect matters.
    private var styleID = 0
    private var gateID = 0
    private var insertIDs: [Int] = []
    private var endID = 0

    package init() { cuts = CutPlaces(nil) }

    /// What a step has done so far.
    package func effect(of id: Int) -> ForwardEffect {
        var effect = effects[id] ?? ForwardEffect()
        for replacement in replacements where replacement.id == id { effect.replaced += replacement.count }
        return effect
    }

    private mutating func note(_ id: Int, _ change: (inout ForwardEffect) -> Void) {
        if id > 0 { change(&effects[id, default: ForwardEffect()]) }
    }

    /// A step has done what it says, at once.
    package mutating func noteActed(_ id: Int) { note(id) { $0.hasActed = true } }

    /// What comes may go on at once, as it is: there is nothing to be kept in order.
    package var isTransparent: Bool {
        gate == .open && allowance == nil && style.isPlain && waiting == 0 && inserted.isEmpty && replacements.isEmpty
            && end == nil && !hasEnded && styleID == 0
    }

    /// Something is on its way: it waits for its time or for the receiver, and no step holds it.
    package var isMoving: Bool { !hasEnded && (!inserted.isEmpty || gate != .held && (waiting > 0 || end != nil)) }

    /// Its sender has reset it, and nothing keeps that back.
    package var isCutOff: Bool {
        end?.0 == .reset && gate == .open && allowance == nil && style.isPlain && !hasEnded
    }

    // MARK: What comes

    package mutating func append(_ bytes: [UInt8], at time: MonotonicTime) {
        if hasEnded || end != nil { return }
        if gate == .discarding { return note(gateID) { $0.dropped += bytes.count } }
        var bytes = bytes
        for index in replacements.indices { bytes = replacements[index].pass(bytes) }
        lastArrival = time
        add(bytes, at: time)
    }

    /// What went on last has not left, and waits again before all else.
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
        noteIfKept()
    }

    /// What waits is kept back: by a step, or by a style that lets it go on late.
    private mutating func noteIfKept() {
        guard waiting > 0 || end != nil, !hasEnded else { return }
        if gate == .held { note(gateID) { $0.hasKept = true } }
        if gate == .open, delay > .zero || style.isJoined, allowance == nil {
            note(styleID) { $0.hasKept = true }
        }
    }

    /// The peer's end, or the one that is asked for. The first one counts; a reset of the peer overtakes a FIN that waits.
    package mutating func append(_ end: ForwardEnd, at time: MonotonicTime) {
        if hasEnded { return }
        if let known = self.end?.0, !(end == .reset && known == .fin) { return }
        flushReplacements(at: time)
        self.end = (end, time)
        noteIfKept()
    }

    /// Nothing follows: what may have been the beginning of what is replaced is not.
    private mutating func flushReplacements(at time: MonotonicTime) {
        for index in replacements.indices {
            var rest = replacements[index].finish()
            for later in replacements.indices.dropFirst(index + 1) { rest = replacements[later].pass(rest) }
            add(rest, at: time)
        }
    }

    // MARK: What steps say

    /// - Parameter count: so many bytes, and then it holds; nil: all.
    package mutating func forward(_ style: ForwardStyle<Resolved>, count: Int? = nil, by id: Int = 0) {
        (styleID, gateID) = (id, id)
        hasOpenCut = false
        gate = count == 0 ? .held : .open
        allowance = count == 0 ? nil : count
        self.style = style
        position = 0
        cuts = CutPlaces(style.cut)
        earliest = nil
        noteIfKept()
    }

    package mutating func hold(by id: Int = 0) {
        gateID = id
        gate = .held
        allowance = nil
        noteIfKept()
    }

    /// What was held goes on, in the style that there was.
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

    /// What waits is dropped.
    package mutating func drop() {
        (chunks, first, waiting, inserted, insertIDs) = ([], 0, 0, [], [])
        for index in replacements.indices { _ = replacements[index].finish() }
    }

    /// From here on, also of what waits.
    package mutating func replace(
        _ wanted: [UInt8], with replacement: [UInt8], at time: MonotonicTime, by id: Int = 0
    ) {
        let bytes = take(waiting)
        replacements.append(ByteReplacement(wanted, with: replacement, by: id))
        add(replacements[replacements.count - 1].pass(bytes), at: lastArrival ?? time)
    }

    package mutating func insert(_ bytes: [UInt8], by id: Int = 0) {
        if hasEnded { return }
        inserted += bytes
        insertIDs.append(id)
    }

    /// Ends the direction on purpose: behind what goes on, without what is held.
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

    /// Nothing goes on any more: the connection that it goes to is gone.
    package mutating func abandon() {
        drop()
        end = nil
        hasEnded = true
    }

    // MARK: What goes on

    /// Asked whenever all that went on before has left.
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
        // Pieces of a size are cut from what there is; a place in the stream is a cut once more goes on after it.
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

    /// The moment from which on the next piece may go on; nil: now.
    private func due(at now: MonotonicTime) -> MonotonicTime? {
        var due = chunks[first].arrived + delay
        if let earliest { due = max(due, earliest) }
        if style.isJoined, end == nil, waiting < Self.mostJoined, let lastArrival {
            let quiet = min(lastArrival + Self.joinPause, chunks[first].arrived + Self.longestJoin)
            due = max(due, quiet + delay)
        }
        return due
    }

    /// More does not wait for more.
    private static let mostJoined = 1 << 20
    /// Of a peer that never pauses.
    private static let longestJoin = Duration.milliseconds(100)

    private func nextCount(at now: MonotonicTime) -> Int {
        var count = chunks[first].bytes.count
        if style.isJoined || style.cut != nil {
            // A cut is a place in the stream: what came in several reads goes on in one piece.
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
