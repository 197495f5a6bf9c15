import HeapModule
import ProbeBase

/// The behavior of a crowd's members, driven by a sequence of events.
///
/// The core opens no sockets and reads no clock. ``CrowdConnections`` owns the sockets, and times are passed as
/// arguments, in nanoseconds of CLOCK_MONOTONIC. The core is confined to one thread.
///
/// A step is *due* when the preceding step is complete according to the schedule. A wait postpones the next step by
/// exactly its duration, however late the thread is. Each member of a crowd with a rate has its own start time.
/// Members' waits are measured from the due time, so that a crowd that is held up by a slow peer doesn't underreport
/// its latency (coordinated omission).
package final class CrowdCore<Connections: CrowdConnections, Recorder: LatencyRecorder> {
    let connections: Connections
    let program: MemberProgram
    var members: [CrowdMember]
    var tally = CrowdTally<Recorder>()
    /// The matchers of the instructions that have a regex, by instruction index.
    let matchers: [Int: MemberInput.LineMatcher]
    let input: MemberInput

    /// A time at which a member wakes up or reads again. The timer is stale if the member has since been given a
    /// different time.
    struct Timer: Comparable {
        var at: Int64
        var member: UInt32
        static func < (left: Timer, right: Timer) -> Bool { left.at < right.at }
    }

    private var timers = Heap<Timer>()
    /// The members that continue in the next turn, because they have used up their share of the current turn.
    private var ready: [Int] = []
    private var turns: MemberTurns
    /// For each instruction, whether it or an instruction that may follow it examines received bytes.
    private let looksAhead: [Bool]
    private let needsConnectionAhead: [Bool]
    let waitsAhead: [[MemberWait: Int]]
    /// The number of unexamined received bytes at which a member stops reading.
    let maxInputBytes: Int
    let buffer: UnsafeMutableRawBufferPointer

    /// Creates the core of a crowd.
    ///
    /// - Parameters:
    ///   - members: the number of members that start on the schedule; 0 for a crowd of servers.
    ///   - schedule: returns the start time of each member, in nanoseconds since the start of the crowd; times are in
    ///     ascending order.
    ///   - matchers: a matcher for each instruction that expects a line that matches a regex.
    package init(
        _ program: MemberProgram, members: Int, connections: Connections, schedule: ((Int) -> Int64)? = nil,
        matchers: [Int: ([UInt8]) -> Bool] = [:]
    ) {
        self.program = program
        self.connections = connections
        turns = MemberTurns(starting: members, schedule: schedule)
        self.matchers = matchers
        self.members = Array(repeating: CrowdMember(), count: members)
        input = MemberInput(terminator: program.terminator)
        looksAhead = program.looksAhead
        needsConnectionAhead = program.needsConnectionAhead
        waitsAhead = program.waitsAhead
        maxInputBytes = program.instructions.reduce(MemberInput.longest + 65536) { most, instruction in
            if case .expect(.count(let count), _) = instruction { max(most, count) } else { most }
        }
        buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Returns whether the member's current instruction, or one that may follow it, examines received bytes.
    func looksAhead(_ member: Int) -> Bool {
        let place = Int(members[member].instruction)
        guard place < looksAhead.count else { return false }
        return members[member].state != .done && members[member].state != .failed && looksAhead[place]
    }

    /// Returns whether a member's script can't continue without its current connection.
    func needsConnection(_ member: Int) -> Bool {
        let place = Int(members[member].instruction)
        return place < needsConnectionAhead.count && needsConnectionAhead[place]
    }

    // MARK: Events

    package func begin(at moment: Int64) { turns.begin(at: moment) }

    /// The number of members, including those whose connection has ended.
    package var memberCount: Int { members.count }

    /// Counts a connection that was refused because the crowd already had all its members.
    package func refuse() { tally.snapshot.refused += 1 }

    /// Handles a new connection to a crowd of servers, and returns the number of the new member.
    package func accept(at now: Int64) -> Int {
        let member = members.count
        members.append(CrowdMember())
        accept(member, at: now)
        return member
    }

    /// Handles a new connection for a member whose previous connection has ended.
    package func accept(_ member: Int, at now: Int64) {
        members[member] = CrowdMember()
        members[member].connection = .open
        members[member].flags = [.everConnected, .readable]
        members[member].due = now
        members[member].state = .running
        tally.snapshot.started += 1
        tally.snapshot.connected += 1
        tally.snapshot.alive += 1
        run(member, at: now)
    }

    /// Handles a connection from which bytes, a FIN or an error can be read.
    package func readable(_ member: Int, at now: Int64) {
        guard members[member].connection != .none else { return }
        members[member].flags.insert(.readable)
        if members[member].connection == .connecting { return continueConnect(member, at: now) }
        if take(member, at: now) { run(member, at: now) }
    }

    package func writable(_ member: Int, at now: Int64) {
        switch members[member].connection {
        case .none: break
        case .connecting: continueConnect(member, at: now)
        case .open:
            if members[member].state == .blocked {
                members[member].state = .running
                members[member].wakes = .max
                run(member, at: now)
            }
        }
    }

    /// Handles the peer's FIN, or an error. Must be called even if the member does not read.
    package func ended(_ member: Int, at now: Int64) {
        // Unread bytes precede the FIN, and the member may be waiting for them.
        guard members[member].connection == .open, !mayRead(member), !looksAhead(member) else { return }
        peerEnded(member, at: now)
    }

    /// Performs all actions that are due. Must be called at ``nextMoment`` or later.
    package func advance(to now: Int64) {
        let turn = ready
        ready.removeAll(keepingCapacity: true)
        for member in turn where members[member].state == .running { run(member, at: now) }
        startMembers(at: now)
        while let timer = timers.min, timer.at <= now {
            _ = timers.popMin()
            let member = Int(timer.member)
            if members[member].reads == timer.at { readSlowly(member, at: now) }
            if members[member].wakes == timer.at { wake(member, at: now) }
        }
        runTurns(at: now)
    }

    /// The next time at which ``advance(to:)`` has work to do; `nil` if there is no work until the next event.
    package var nextMoment: Int64? {
        if !ready.isEmpty { return 0 }
        return [timers.min?.at, turns.nextMoment].compactMap(\.self).min()
    }

    /// Stops all members and closes their connections with a FIN.
    package func stop(at now: Int64) {
        turns.stop()
        for member in members.indices where members[member].state != .done && members[member].state != .failed {
            loseWaits(member, isFailure: false, at: now)
            members[member].state = .done
        }
        for member in members.indices { drop(member, recordsRest: false) { $0.close(member) } }
    }

    // MARK: Turns

    private func startMembers(at now: Int64) {
        while let (member, due) = turns.nextToStart(at: now) {
            tally.snapshot.started += 1
            members[member].due = due
            members[member].state = .running
            run(member, at: now)
        }
    }

    private func runTurns(at now: Int64) {
        while let member = turns.nextToConnect() {
            guard members[member].state == .queued else { continue }
            members[member].state = .running
            run(member, at: now)
        }
    }

    func later(_ moment: Int64, by duration: Duration) -> Int64 {
        let (sum, overflow) = moment.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .max : sum
    }

    func setWake(_ member: Int, at moment: Int64) {
        members[member].wakes = moment
        timers.insert(Timer(at: moment, member: UInt32(member)))
    }

    func setReading(_ member: Int, at moment: Int64) {
        members[member].reads = moment
        timers.insert(Timer(at: moment, member: UInt32(member)))
    }

    private func wake(_ member: Int, at now: Int64) {
        let moment = members[member].wakes
        members[member].wakes = .max
        switch members[member].state {
        case .pausing:
            members[member].due = moment
            if case .wait = program.instructions[Int(members[member].instruction)] { members[member].instruction += 1 }
            members[member].state = .running
            run(member, at: now)
        case .expecting:
            let isAtEnd = members[member].flags.contains(.atEnd)
            fail(member, isAtEnd ? closedText : "the expected input did not arrive in time")
        case .connecting: fail(member, "no answer in time")
        case .blocked:
            // A member that doesn't read may itself be the reason why its peer doesn't read, so a blocked send does not
            // make such a member fail.
            if mayRead(member) { fail(member, "the peer does not read") }
        case .waitingToStart, .running, .queued, .done, .failed: break
        }
    }

    // MARK: Connecting

    func connect(_ member: Int, within: Duration, at now: Int64) -> Bool {
        guard members[member].connection == .none else {
            fail(member, "the member is already connected")
            return false
        }
        guard turns.mayConnect(isFirst: !members[member].flags.contains(.everConnected)) else {
            members[member].state = .queued
            turns.wait(member)
            return false
        }
        switch connections.connect(member) {
        case .connected:
            connected(member, at: now)
            return true
        case .pending:
            turns.connecting += 1
            members[member].connection = .connecting
            members[member].state = .connecting
            setWake(member, at: later(now, by: within))
        case .failed(let reason): fail(member, reason)
        }
        return false
    }

    private func continueConnect(_ member: Int, at now: Int64) {
        switch connections.continueConnect(member) {
        case .pending: break
        case .connected:
            turns.connecting -= 1
            members[member].wakes = .max
            connected(member, at: now)
            members[member].state = .running
            run(member, at: now)
        case .failed(let reason): fail(member, reason)
        }
    }

    private func connected(_ member: Int, at now: Int64) {
        tally.record(.connect, now - members[member].due)
        if !members[member].flags.contains(.everConnected) { tally.snapshot.connected += 1 }
        members[member].connection = .open
        members[member].flags.formIntersection([.hasRepeated, .hadRest])
        members[member].flags.formUnion([.everConnected, .readable])
        (members[member].slowReading, members[member].reads) = (-1, .max)
        tally.snapshot.alive += 1
        members[member].due = now
        members[member].instruction += 1
    }

    // MARK: Ends

    var closedText: String { "closed by the peer" }

    /// Fails a member and ends its script.
    func fail(_ member: Int, _ reason: String) {
        let state = members[member].state
        guard state != .done, state != .failed else { return }
        loseWaits(member, isFailure: true, at: members[member].due)
        tally.fail(at: Int(members[member].instruction), reason)
        members[member].state = .failed
        drop(member) { $0.reset(member) }
    }

    /// Ends a member's connection and cancels its timers.
    ///
    /// - Parameter recordsRest: whether received bytes that were not consumed are counted and reported.
    func drop(_ member: Int, recordsRest: Bool = true, _ end: (Connections) -> Void) {
        let connection = members[member].connection
        if recordsRest { recordRest(member) }
        if connection != .none { end(connections) }
        if connection == .open { tally.snapshot.alive -= 1 }
        if connection == .connecting { turns.connecting -= 1 }
        members[member].connection = .none
        members[member].flags.subtract([.readable, .stopsReading, .atEnd])
        members[member].wakes = .max
        members[member].reads = .max
        members[member].slowReading = -1
        members[member].input = []
        (members[member].taken, members[member].scanned, members[member].surplus) = (0, 0, 0)
    }

    /// Makes a member continue in the next turn.
    func postpone(_ member: Int) { ready.append(member) }

    func run(_ member: Int, at now: Int64) {
        // A member executes at most 64 steps per turn, so that other members get their turn.
        for _ in 0..<64 {
            guard members[member].state == .running else { return }
            guard step(member, at: now) else { return }
        }
        if members[member].state == .running { postpone(member) }
    }
}

/// The bytes that a member received but that no statement of its script consumed.
///
/// They are judged when the connection ends, and when the crowd is asked for its final report. Connections that the
/// script resets and connections with `ignore rest` are exempt. For a member that has not finished its script, the
/// remaining steps determine the result: bytes that an `expect` would consume or may still wait for are not counted.
extension CrowdCore {
    /// The number of unconsumed bytes per member that are kept for the report.
    static var keptRest: Int { 64 }

    /// Records bytes that no later statement can examine: keeps the first ones for the report, and counts the others.
    func keepRest(_ member: Int, _ received: UnsafeRawBufferPointer) {
        if members[member].flags.contains(.ignoresRest) { return }
        let room = max(0, Self.keptRest - (members[member].input.count - Int(members[member].taken)))
        members[member].input.append(contentsOf: received.prefix(room))
        members[member].surplus += max(0, received.count - room)
    }

    /// Trims the input to the bytes that are kept for the report. Called when no later statement examines the input,
    /// because keeping all the input of a hundred thousand members would take too much memory.
    func trimRest(_ member: Int) {
        let rest = members[member].flags.contains(.ignoresRest) ? [] : members[member].rest
        members[member].surplus += max(0, rest.count - Self.keptRest)
        members[member].input = Array(rest.prefix(Self.keptRest))
        (members[member].taken, members[member].scanned) = (0, 0)
    }

    /// Receives the bytes in the kernel's buffer before the script closes the connection.
    func receiveRest(_ member: Int) {
        guard mayRead(member), members[member].connection == .open, !members[member].flags.contains(.ignoresRest) else {
            return
        }
        // The number of reads is limited, so that a peer that never stops sending does not block the thread.
        for _ in 0..<16 where members[member].flags.contains(.readable) {
            guard case .bytes(let count) = connections.read(member, into: buffer) else { return }
            tally.snapshot.received += count
            keepRest(member, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Judges the unconsumed bytes of a connection that is about to end.
    func recordRest(_ member: Int) {
        guard members[member].state != .failed, let rest = unconsumed(by: member) else { return }
        guard members[member].flags.insert(.hadRest).inserted else { return }
        tally.snapshot.addRest(of: 1, rest)
    }

    /// Counts the members whose open connections have unconsumed bytes, after receiving everything in the kernel's
    /// buffers.
    func openRests(at now: Int64) -> (members: Int, example: CrowdSnapshot.Rest?) {
        for member in members.indices where members[member].connection == .open { readable(member, at: now) }
        var found: (members: Int, example: CrowdSnapshot.Rest?) = (0, nil)
        for member in members.indices where members[member].connection == .open {
            if members[member].flags.contains(.hadRest) { continue }
            guard let rest = unconsumed(by: member) else { continue }
            found = (found.members + 1, found.example ?? rest)
        }
        return found
    }

    /// Returns the bytes that the member's script leaves unconsumed if no more bytes are received, or `nil` if there
    /// are none.
    private func unconsumed(by member: Int) -> CrowdSnapshot.Rest? {
        guard members[member].connection == .open, !members[member].flags.contains(.ignoresRest) else { return nil }
        let unread = mayRead(member) ? 0 : connections.unread(member)
        let rest = members[member].rest
        guard rest.count + members[member].surplus + unread > 0,
            let taken = input.taken(
                from: rest, by: program, at: Int(members[member].instruction), matchers)
        else {
            return nil
        }
        let count = rest.count - taken + members[member].surplus + unread
        return count > 0
            ? CrowdSnapshot.Rest(bytes: Array(rest[taken...].prefix(Self.keptRest)), count: count) : nil
    }
}

extension MemberInput {
    /// Returns the number of bytes that the following statements would consume, or `nil` if unconsumed bytes are
    /// permitted or a statement may still consume them.
    func taken(
        from rest: [UInt8], by program: MemberProgram, at instruction: Int, _ matchers: [Int: LineMatcher]
    ) -> Int? {
        var (place, taken) = (instruction, 0)
        var takenBefore: Int?
        while place < program.instructions.count {
            switch program.instructions[place] {
            case .acceptRest, .reset: return nil
            case .connect, .close, .sendEndlessly: return taken
            case .send, .wait, .stopReading, .read: place += 1
            case .expect(let wait, _):
                let bytes = rest.span.extracting(droppingFirst: taken)
                switch look(for: wait, in: bytes, scanned: 0, matcher: matchers[place]) {
                case .met(let count): taken += count
                case .mismatch: return taken
                case .pending: return nil
                }
                place += 1
            case .jump(let target):
                // Bytes that were received before a new request do not answer that request. In a loop without requests,
                // the peer sends unprompted, and the next rounds consume the bytes.
                let asks = program.instructions[target..<place].contains { if case .send = $0 { true } else { false } }
                if asks || taken == rest.count || takenBefore == taken { return taken }
                (takenBefore, place) = (taken, target)
            }
        }
        return taken
    }
}

extension CrowdMember {
    /// The received bytes that were not consumed, if they were kept.
    fileprivate var rest: [UInt8] { Array(input.dropFirst(Int(taken))) }
}

extension CrowdSnapshot {
    /// Received bytes that no statement consumed.
    package struct Rest: Sendable, Equatable {
        /// The first of the unconsumed bytes; fewer than `count` if there are many, or if the member does not read.
        package var bytes: [UInt8]
        package var count: Int

        package init(bytes: [UInt8], count: Int) { (self.bytes, self.count) = (bytes, count) }
    }

    mutating func addRest(of members: Int, _ example: Rest?) {
        withRest += members
        rest = rest ?? example
    }
}

extension CrowdCore {
    /// Executes the member's current instruction, or a part of it. Returns `false` if the member must wait.
    func step(_ member: Int, at now: Int64) -> Bool {
        let place = Int(members[member].instruction)
        if members[member].flags.contains(.atEnd), members[member].connection == .open, !looksAhead(member) {
            // A FIN that arrived together with the last expected bytes is handled as if it had just arrived.
            peerEnded(member, at: now)
            if members[member].state == .failed { return false }
        }
        guard place < program.instructions.count else {
            finish(member, at: now)
            return false
        }
        switch program.instructions[place] {
        case .connect(let within): return connect(member, within: within, at: now)
        case .send(let pieces, let pause): return send(member, pieces, pause, at: now)
        case .sendEndlessly(let bytes, let interval): return sendEndlessly(member, bytes, interval, at: now)
        case .expect(let wait, let within): return expect(member, wait, within, at: now)
        case .wait(let duration):
            pause(member, for: duration, at: now)
            return false
        case .close:
            receiveRest(member)
            drop(member) { $0.close(member) }
        case .reset: drop(member, recordsRest: false) { $0.reset(member) }
        case .acceptRest: members[member].flags.insert(.ignoresRest)
        case .stopReading: members[member].flags.insert(.stopsReading)
        case .read:
            members[member].slowReading = Int32(place)
            members[member].flags.remove(.stopsReading)
            setReading(member, at: now)
        case .jump(let target):
            members[member].instruction = Int32(target)
            members[member].flags.insert(.hasRepeated)
            return true
        }
        members[member].instruction += 1
        return true
    }

    private func finish(_ member: Int, at now: Int64) {
        members[member].state = .done
        if !members[member].flags.contains(.wasDone) {
            members[member].flags.insert(.wasDone)
            tally.snapshot.done += 1
        }
        trimRest(member)
        if members[member].connection == .open { _ = take(member, at: now) }
    }

    private func pause(_ member: Int, for duration: Duration, at now: Int64) {
        members[member].state = .pausing
        // The wait is never shorter than specified, even if this thread is late.
        setWake(member, at: later(max(members[member].due, now), by: duration))
    }

    // MARK: Sending

    private func send(_ member: Int, _ pieces: [[UInt8]], _ pause: Duration, at now: Int64) -> Bool {
        while Int(members[member].piece) < pieces.count {
            guard write(member, pieces[Int(members[member].piece)], at: now) else { return false }
            members[member].piece += 1
            if pause > .zero, Int(members[member].piece) < pieces.count {
                self.pause(member, for: pause, at: now)
                return false
            }
        }
        members[member].piece = 0
        members[member].instruction += 1
        return true
    }

    private func sendEndlessly(_ member: Int, _ bytes: [UInt8], _ interval: Duration, at now: Int64) -> Bool {
        guard write(member, bytes, at: now) else { return false }
        // Repeated sends follow a schedule that begins with the first send. Sends that were missed because an earlier
        // send was late are skipped rather than made up for in a burst.
        members[member].state = .pausing
        setWake(member, at: max(later(members[member].due, by: interval), now))
        return false
    }

    /// Writes the remaining bytes. Returns `false` if some of them could not be written.
    private func write(_ member: Int, _ bytes: [UInt8], at now: Int64) -> Bool {
        guard members[member].connection == .open else {
            fail(member, "the member is not connected")
            return false
        }
        while Int(members[member].written) < bytes.count {
            let start = Int(members[member].written)
            let result = bytes.withUnsafeBytes {
                connections.write(member, UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
            switch result {
            case .wrote(let count):
                members[member].written += Int32(count)
                tally.snapshot.sent += count
            case .blocked:
                members[member].state = .blocked
                setWake(member, at: later(now, by: program.patience))
                return false
            case .failed(let reason):
                fail(member, reason)
                return false
            }
        }
        members[member].written = 0
        return true
    }

    // MARK: Receiving

    func mayRead(_ member: Int) -> Bool {
        !members[member].flags.contains(.stopsReading) && members[member].slowReading < 0
    }

    /// Reads from the kernel's buffer, up to the member's limit. Returns `true` if the member may continue its script.
    @discardableResult
    func take(_ member: Int, at now: Int64) -> Bool {
        guard mayRead(member) else { return false }
        return read(member, limit: .max, at: now)
    }

    func readSlowly(_ member: Int, at now: Int64) {
        members[member].reads = .max
        let place = Int(members[member].slowReading)
        guard place >= 0, case .read(let count, let interval) = program.instructions[place] else { return }
        setReading(member, at: later(now, by: interval))
        if read(member, limit: count, at: now) { run(member, at: now) }
    }

    private func read(_ member: Int, limit: Int, at now: Int64) -> Bool {
        var left = limit
        var continues = false
        while left > 0, members[member].flags.contains(.readable), members[member].connection == .open,
            members[member].input.count - Int(members[member].taken) < maxInputBytes
        {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(left, buffer.count)])
            switch connections.read(member, into: room) {
            case .bytes(let count):
                left -= count
                tally.snapshot.received += count
                if looksAhead(member) {
                    members[member].input.append(contentsOf: buffer[..<count])
                    continues = continues || members[member].state == .expecting
                } else {
                    keepRest(member, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            case .blocked: members[member].flags.remove(.readable)
            case .end:
                members[member].flags.remove(.readable)
                peerEnded(member, at: now)
                return members[member].state == .expecting && resume(member)
            case .failed(let reason):
                connectionFailed(member, reason)
                return false
            }
        }
        return continues && resume(member)
    }

    /// Makes a member evaluate its `expect` again; returns `true`.
    private func resume(_ member: Int) -> Bool {
        members[member].state = .running
        return true
    }

    /// Handles the peer's FIN.
    func peerEnded(_ member: Int, at now: Int64) {
        members[member].flags.insert(.atEnd)
        switch members[member].state {
        case .done, .failed: drop(member) { $0.close(member) }
        case .expecting: break
        case .waitingToStart, .running, .queued, .connecting, .blocked, .pausing:
            // A later step of the script may examine the received bytes. If no later step does, the bytes no longer
            // matter.
            if looksAhead(member) { return }
            if needsConnection(member) { fail(member, closedText) } else { hangUp(member) }
        }
    }

    /// Closes a member's connection, and lets its script continue without a connection.
    private func hangUp(_ member: Int) {
        let wakes = members[member].wakes
        drop(member) { $0.close(member) }
        members[member].wakes = wakes
    }

    private func connectionFailed(_ member: Int, _ reason: String) {
        if members[member].state == .done {
            drop(member) { $0.close(member) }
        } else {
            fail(member, reason)
        }
    }

    // MARK: Expecting

    private func expect(_ member: Int, _ wait: MemberProgram.Wait, _ within: Duration, at now: Int64) -> Bool {
        guard members[member].connection == .open else {
            fail(member, "the member is not connected")
            return false
        }
        let isFirstLook = members[member].wakes == .max
        while true {
            switch look(member, for: wait) {
            case .met(let count):
                took(member, count)
                tally.record(MemberWait(wait), now - members[member].due)
                members[member].wakes = .max
                members[member].due = now
                members[member].instruction += 1
                return true
            case .mismatch(let text):
                fail(member, text)
                return false
            case .pending(let scanned):
                members[member].scanned = Int32(scanned)
                if members[member].flags.contains(.atEnd) {
                    fail(member, closedText)
                    return false
                }
                let before = members[member].input.count
                if mayRead(member), members[member].flags.contains(.readable) { _ = read(member, limit: .max, at: now) }
                guard members[member].state == .running else { return false }
                if members[member].input.count > before || members[member].flags.contains(.atEnd) { continue }
                members[member].state = .expecting
                if isFirstLook { setWake(member, at: later(now, by: within)) }
                return false
            }
        }
    }

    private func look(_ member: Int, for wait: MemberProgram.Wait) -> MemberInput.Result {
        let place = Int(members[member].instruction)
        if case .eof = wait, members[member].flags.contains(.atEnd),
            members[member].input.count == Int(members[member].taken)
        {
            return .met(0)
        }
        let received = members[member].input
        if case .eof = wait, members[member].flags.contains(.ignoresRest) {
            // With `ignore rest`, the member waits only for the end of the connection.
            let rest = received.count - Int(members[member].taken)
            return members[member].flags.contains(.atEnd) ? .met(rest) : .pending(scanned: 0)
        }
        return input.look(
            for: wait, in: received.span.extracting(droppingFirst: Int(members[member].taken)),
            scanned: Int(members[member].scanned), matcher: matchers[place])
    }

    private func took(_ member: Int, _ count: Int) {
        members[member].scanned = 0
        members[member].taken += Int32(count)
        if Int(members[member].taken) == members[member].input.count {
            members[member].input = []
            members[member].taken = 0
        } else if members[member].taken > 16384 {
            members[member].input.removeFirst(Int(members[member].taken))
            members[member].taken = 0
        }
    }
}
