import ProbeBase
import HeapModule

/// What the members of a crowd do, one event after the other.
///
/// It opens no socket and reads no clock: ``CrowdConnections`` does the first, and times are arguments, in nanoseconds of CLOCK_MONOTONIC.
/// Confined to one thread.
///
/// A step is *due* when the one before it was done, in the sense of the schedule: a wait moves it on by exactly its length, however late the
/// thread was, and the members of a crowd with a rate begin at their own moments. Waits of members are measured from there, so that a crowd
/// which is held up by a slow peer does not measure less of it (coordinated omission).
package final class CrowdCore<Connections: CrowdConnections, Recorder: LatencyRecorder> {
    let connections: Connections
    let program: MemberProgram
    var members: [CrowdMember]
    var tally = CrowdTally<Recorder>()
    /// The matcher of each instruction that has a regex.
    let matchers: [Int: MemberInput.LineMatcher]
    let input: MemberInput

    /// When a member is woken, or reads again: valid where the member still says so.
    struct Timer: Comparable {
        var at: Int64
        var member: UInt32
        static func < (left: Timer, right: Timer) -> Bool { left.at < right.at }
    }

    private var timers = Heap<Timer>()
    /// Members that go on in the next turn: they have done much in this one.
    private var ready: [Int] = []
    private var turns: MemberTurns
    /// For each instruction, whether it or one that can come behind it looks at what was received.
    private let looksAhead: [Bool]
    private let needsConnectionAhead: [Bool]
    let waitsAhead: [[MemberWait: Int]]
    /// What a member has received and not looked at; then it stops reading.
    let mostInput: Int
    let buffer: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - members: how many begin by themselves; of a crowd of servers 0.
    ///   - schedule: the nanoseconds between the beginning of the crowd and that of a member, rising.
    ///   - matchers: of each instruction that expects a line by a regex.
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
        mostInput = program.instructions.reduce(MemberInput.longest + 65536) { most, instruction in
            if case .expect(.count(let count), _) = instruction { max(most, count) } else { most }
        }
        buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Whether what a member receives may be what it waits for, now or later.
    func looksAhead(_ member: Int) -> Bool {
        let place = Int(members[member].instruction)
        guard place < looksAhead.count else { return false }
        return members[member].state != .done && members[member].state != .failed && looksAhead[place]
    }

    /// Whether its script can't go on without the connection that it has.
    func needsConnection(_ member: Int) -> Bool {
        let place = Int(members[member].instruction)
        return place < needsConnectionAhead.count && needsConnectionAhead[place]
    }

    // MARK: What happens

    package func begin(at moment: Int64) { turns.begin(at: moment) }

    /// With those whose connection has ended.
    package var memberCount: Int { members.count }

    /// A connection came that is one too many.
    package func refuse() { tally.snapshot.refused += 1 }

    /// A connection came to a crowd of servers: the number of a new member of it.
    package func accept(at now: Int64) -> Int {
        let member = members.count
        members.append(CrowdMember())
        accept(member, at: now)
        return member
    }

    /// A connection came, and takes the place of a member whose connection has ended.
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

    /// Bytes, an end or an error can be read.
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

    /// The peer has sent its FIN, or an error has come, also of a member that does not read.
    package func ended(_ member: Int, at now: Int64) {
        // What it has not read comes before the end, and may be what it waits for.
        guard members[member].connection == .open, !mayRead(member), !looksAhead(member) else { return }
        peerEnded(member, at: now)
    }

    /// Does what is due; to be called at ``nextMoment`` or later.
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
        takeTurns(at: now)
    }

    /// When ``advance(to:)`` has something to do; nil: only behind an event.
    package var nextMoment: Int64? {
        if !ready.isEmpty { return 0 }
        return [timers.min?.at, turns.nextMoment].compactMap(\.self).min()
    }

    /// No member does anything more: connections are closed, each with a FIN.
    package func stop(at now: Int64) {
        turns.stop()
        for member in members.indices where members[member].state != .done && members[member].state != .failed {
            loseWaits(member, isFailure: false, at: now)
            members[member].state = .done
        }
        for member in members.indices { drop(member, isJudged: false) { $0.close(member) } }
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

    private func takeTurns(at now: Int64) {
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
        case .expecting: fail(member, members[member].flags.contains(.atEnd) ? closedText : "it did not come in time")
        case .connecting: fail(member, "no answer in time")
        case .blocked:
            // A member that does not read may well be why its peer does not.
            if mayRead(member) { fail(member, "the peer takes nothing") }
        case .waitingToStart, .running, .queued, .done, .failed: break
        }
    }

    // MARK: Connecting

    func connect(_ member: Int, within: Duration, at now: Int64) -> Bool {
        guard members[member].connection == .none else {
            fail(member, "it is connected already")
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

    /// Its script goes no further: it could not do what it says.
    func fail(_ member: Int, _ reason: String) {
        let state = members[member].state
        guard state != .done, state != .failed else { return }
        loseWaits(member, isFailure: true, at: members[member].due)
        tally.fail(at: Int(members[member].instruction), reason)
        members[member].state = .failed
        drop(member) { $0.reset(member) }
    }

    /// Its connection ends, and it is woken no more.
    ///
    /// - Parameter isJudged: bytes that were received and not consumed count against the member.
    func drop(_ member: Int, isJudged: Bool = true, _ end: (Connections) -> Void) {
        let connection = members[member].connection
        if isJudged { judgeRest(member) }
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

    /// It goes on in the next turn.
    func postpone(_ member: Int) { ready.append(member) }

    func run(_ member: Int, at now: Int64) {
        // Then others have their turn.
        for _ in 0..<64 {
            guard members[member].state == .running else { return }
            guard step(member, at: now) else { return }
        }
        if members[member].state == .running { postpone(member) }
    }
}
