package import ProbeBase

/// The results of the members, and the durations of their waits.
struct CrowdTally<Recorder: LatencyRecorder> {
    private struct Failure: Hashable {
        var instruction: Int
        var reason: String
    }

    /// The maximum number of different failures that are counted separately.
    private static var maxFailures: Int { 64 }

    var snapshot = CrowdSnapshot()
    private var failures: [Failure: Int] = [:]
    private var recorders: [MemberWait: Recorder] = [:]
    private var failedWaits: [MemberWait: Int] = [:]
    /// The number of waits that no member will ever reach.
    private var lostWaits: [MemberWait: Int] = [:]

    mutating func record(_ wait: MemberWait, _ nanoseconds: Int64) {
        recorders[wait, default: Recorder()].record(nanoseconds: max(0, nanoseconds))
    }

    mutating func failWait(_ wait: MemberWait) { failedWaits[wait, default: 0] += 1 }

    mutating func lose(_ waits: [MemberWait: Int]) { lostWaits.merge(waits, uniquingKeysWith: +) }

    mutating func fail(at instruction: Int, _ reason: String) {
        snapshot.failed += 1
        var failure = Failure(instruction: instruction, reason: reason)
        // A failure that is due to an obstacle is always counted separately, because an obstacle makes the case end in
        // `error`.
        if failures[failure] == nil, failures.count >= Self.maxFailures, CrowdSnapshot.Obstacle(reason) == nil {
            failure.reason = "another reason"
        }
        failures[failure, default: 0] += 1
    }

    /// The waits that are in progress, and those that members have not reached yet.
    struct Waits {
        /// The waits in progress, each with its duration so far in nanoseconds: `running` for a member's first round,
        /// `repeated` for later rounds of a `repeat`.
        var running: [(wait: MemberWait, nanoseconds: Int64)] = []
        var repeated: [(wait: MemberWait, nanoseconds: Int64)] = []
        var open: [MemberWait: Int] = [:]
    }

    /// Returns a snapshot of the tally.
    ///
    /// - Parameter waits: the waits in progress and the waits not reached yet; `nil` if latencies are not requested.
    func snapshot(_ waits: Waits?) -> CrowdSnapshot {
        var result = snapshot
        result.failures = failures.map {
            CrowdSnapshot.Failure(instruction: $0.key.instruction, reason: $0.key.reason, count: $0.value)
        }
        result.failures.sort { ($1.count, $0.instruction, $0.reason) < ($0.count, $1.instruction, $1.reason) }
        guard let waits else { return result }
        var all = recorders
        var running: [MemberWait: Recorder] = [:]
        for (wait, nanoseconds) in waits.repeated {
            all[wait, default: Recorder()].record(nanoseconds: max(0, nanoseconds))
        }
        for (wait, nanoseconds) in waits.running {
            running[wait, default: Recorder()].record(nanoseconds: max(0, nanoseconds))
        }
        for wait in MemberWait.allCases {
            var record = LatencyRecord()
            for (nanoseconds, count) in all[wait]?.counts ?? [] { record.add(nanoseconds: nanoseconds, count: count) }
            for (nanoseconds, count) in running[wait]?.counts ?? [] {
                record.addRunning(nanoseconds: nanoseconds, count: count)
            }
            record.failed = failedWaits[wait] ?? 0
            record.open = (waits.open[wait] ?? 0) + (lostWaits[wait] ?? 0)
            if !record.isEmpty { result.latencies[wait] = record }
        }
        return result
    }
}

extension MemberProgram.Instruction {
    /// The kind of wait that is measured for the instruction; `nil` if the instruction does not wait.
    package var wait: MemberWait? {
        switch self {
        case .connect: .connect
        case .expect(let wait, _): MemberWait(wait)
        case .send, .sendEndlessly, .wait, .close, .reset, .stopReading, .read, .acceptRest, .jump: nil
        }
    }
}

extension CrowdCore {
    /// Returns the state of the crowd.
    ///
    /// - Parameters:
    ///   - latencies: whether to include the durations of waits. Waits in progress are included with their duration so
    ///     far.
    ///   - rests: whether to include the members whose open connections have unconsumed bytes.
    package func snapshot(at now: Int64, latencies: Bool, rests: Bool = false) -> CrowdSnapshot {
        let open = rests ? openRests(at: now) : nil
        var snapshot = snapshot(at: now, latencies: latencies)
        if let open { snapshot.addRest(of: open.members, open.example) }
        return snapshot
    }

    private func snapshot(at now: Int64, latencies: Bool) -> CrowdSnapshot {
        guard latencies else { return tally.snapshot(nil) }
        var waits = CrowdTally<Recorder>.Waits()
        /// For each instruction, the number of members that are at the instruction and have not completed the first
        /// round of a `repeat`.
        var places = Array(repeating: 0, count: waitsAhead.count)
        for member in members where member.state != .failed && member.state != .done {
            let isRepeated = member.flags.contains(.hasRepeated)
            if !isRepeated { places[Int(member.instruction)] += 1 }
            guard let wait = runningWait(of: member) else { continue }
            if isRepeated {
                waits.repeated.append((wait, now - member.due))
            } else {
                waits.running.append((wait, now - member.due))
                waits.open[wait, default: 0] -= 1
            }
        }
        for (place, count) in places.enumerated() where count > 0 {
            waits.open.merge(waitsAhead[place].mapValues { $0 * count }, uniquingKeysWith: +)
        }
        return tally.snapshot(waits)
    }

    private func runningWait(of member: CrowdMember) -> MemberWait? {
        switch member.state {
        case .connecting, .queued, .expecting: program.instructions[Int(member.instruction)].wait
        case .waitingToStart, .running, .blocked, .pausing, .done, .failed: nil
        }
    }

    /// Records as lost the waits that a member will never reach because its script ends early.
    ///
    /// - Parameter isFailure: whether the member failed at its instruction; otherwise the crowd was stopped.
    func loseWaits(_ member: Int, isFailure: Bool, at now: Int64) {
        let place = Int(members[member].instruction)
        let isRepeated = members[member].flags.contains(.hasRepeated)
        var ahead = isRepeated ? [:] : waitsAhead[place]
        let isAtWait = runningWait(of: members[member]) != nil || (isFailure && members[member].state == .running)
        if isAtWait, place < program.instructions.count, let wait = program.instructions[place].wait {
            // For a wait in a later round, the duration so far is recorded as a lower bound.
            if isFailure || !isRepeated { tally.failWait(wait) } else { tally.record(wait, now - members[member].due) }
            if !isRepeated { ahead[wait, default: 1] -= 1 }
        }
        tally.lose(ahead)
    }
}
