import ProbeBase

/// What has become of the members, and how long their waits took.
struct CrowdTally<Recorder: LatencyRecorder> {
    private struct Failure: Hashable {
        var instruction: Int
        var reason: String
    }

    /// Kinds of failures that are told apart.
    private static var mostFailures: Int { 64 }

    var snapshot = CrowdSnapshot()
    var mayStart = true
    private var failures: [Failure: Int] = [:]
    private var recorders: [MemberWait: Recorder] = [:]
    private var failedWaits: [MemberWait: Int] = [:]

    mutating func record(_ wait: MemberWait, _ nanoseconds: Int64) {
        recorders[wait, default: Recorder()].record(nanoseconds: max(0, nanoseconds))
    }

    mutating func failedWait(of program: MemberProgram, at instruction: Int) {
        guard instruction < program.instructions.count, let wait = program.instructions[instruction].wait else {
            return
        }
        failedWaits[wait, default: 0] += 1
    }

    mutating func fail(at instruction: Int, _ reason: String) {
        snapshot.failed += 1
        var failure = Failure(instruction: instruction, reason: reason)
        if failures[failure] == nil, failures.count >= Self.mostFailures { failure.reason = "another reason" }
        failures[failure, default: 0] += 1
    }

    /// - Parameter waiting: what members wait for at this moment, with the nanoseconds that it has taken so far; nil: latencies are not
    ///   asked for.
    func snapshot(waiting: [(MemberWait, Int64)]?) -> CrowdSnapshot {
        var result = snapshot
        result.failures = failures.map {
            CrowdSnapshot.Failure(instruction: $0.key.instruction, reason: $0.key.reason, count: $0.value)
        }
        result.failures.sort { ($1.count, $0.instruction, $0.reason) < ($0.count, $1.instruction, $1.reason) }
        guard let waiting else { return result }
        var all = recorders
        for (wait, nanoseconds) in waiting { all[wait, default: Recorder()].record(nanoseconds: max(0, nanoseconds)) }
        for wait in MemberWait.allCases {
            var record = LatencyRecord()
            for (nanoseconds, count) in all[wait]?.counts ?? [] { record.add(nanoseconds: nanoseconds, count: count) }
            record.failed = failedWaits[wait] ?? 0
            if record.count > 0 { result.latencies[wait] = record }
        }
        return result
    }
}

extension MemberProgram.Instruction {
    /// What is measured of it.
    package var wait: MemberWait? {
        switch self {
        case .connect: .connect
        case .expect(let wait, _): MemberWait(wait)
        case .send, .sendEndlessly, .wait, .close, .reset, .stopReading, .read, .jump: nil
        }
    }
}

extension CrowdCore {
    /// How the crowd stands.
    ///
    /// - Parameter latencies: with the times of waits, those that go on with what they have taken so far.
    package func snapshot(at now: Int64, latencies: Bool) -> CrowdSnapshot {
        guard latencies else { return tally.snapshot(waiting: nil) }
        var waiting: [(MemberWait, Int64)] = []
        for member in members {
            let place = Int(member.instruction)
            switch member.state {
            case .connecting, .queued, .expecting:
                if let wait = program.instructions[place].wait { waiting.append((wait, now - member.due)) }
            case .waitingToStart, .running, .blocked, .pausing, .done, .failed: break
            }
        }
        return tally.snapshot(waiting: waiting)
    }
}
