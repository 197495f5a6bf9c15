import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// A `start` of a subject, as far as it tells which connections are the subject's. Times are of the wall clock, in nanoseconds.
struct SubjectStart {
    var began: UInt64
    /// It reported `started` or `stopped` by then.
    var settled: UInt64?
    var ended: UInt64?
    var isConnected = false
    /// At a server outside of the run: its number in ``ExternalStarts``, and where.
    var external: (number: Int, target: EndpointPattern)?
}

/// When the subjects and the programs of a case were started: whose a connection is, is told by that.
struct StartLog {
    /// Among the cases of this process.
    let caseNumber = ExternalStarts.shared.newCase()
    /// Counts the starts and ends of subjects and programs.
    private(set) var revision = 0

    mutating func noteProgram() { revision += 1 }

    /// Enters a start, unless a subject of another case is starting at that server outside of the run.
    ///
    /// - Returns: false where it has to wait.
    mutating func begin(_ subject: SubjectActor, at target: EndpointPattern?, isForced: Bool) -> Bool {
        let now = WallClock.now
        var start = SubjectStart(began: now)
        if let target {
            let number = ExternalStarts.shared.begin(
                subject.name, at: target, now: now, caseNumber: caseNumber, isForced: isForced)
            guard let number else { return false }
            start.external = (number, target)
        }
        revision += 1
        subject.starts.append(start)
        return true
    }

    /// The subject has reported `started` or `stopped`, or refused to start.
    mutating func settle(_ subject: SubjectActor, at moment: UInt64, isConnected: Bool, hasEnded: Bool) {
        guard let last = subject.starts.indices.last else { return }
        revision += 1
        if subject.starts[last].settled == nil { subject.starts[last].settled = moment }
        if isConnected { subject.starts[last].isConnected = true }
        if hasEnded { subject.starts[last].ended = moment }
        if let (number, _) = subject.starts[last].external {
            ExternalStarts.shared.settle(number, at: moment, hasEnded: hasEnded)
        }
    }

    /// The subject has lost its connection, or an attempt has failed: it will connect again, where it did before.
    mutating func beginAgain(_ subject: SubjectActor, at moment: UInt64) {
        settle(subject, at: moment, isConnected: false, hasEnded: false)
        guard let last = subject.starts.last else { return }
        var start = SubjectStart(began: moment)
        if let (_, target) = last.external {
            let number = ExternalStarts.shared.begin(
                subject.name, at: target, now: moment, caseNumber: caseNumber, isForced: true)
            start.external = number.map { ($0, target) }
        }
        revision += 1
        subject.starts.append(start)
    }

    /// Nothing is started any more: other cases need not wait.
    func end(_ actors: ActorTable) {
        for case .subject(let subject) in actors.values {
            for start in subject.starts {
                if let (number, _) = start.external {
                    ExternalStarts.shared.settle(number, at: WallClock.now, hasEnded: true)
                }
            }
        }
    }
}

extension CaseContext {
    /// Right before a subject is told to connect: from now on a connection to its target may be its own.
    ///
    /// At a server outside of the run it waits a moment while a subject of another case connects there.
    ///
    /// - Parameter target: of a server outside of the run.
    func noteStart(_ subject: SubjectActor, at target: EndpointPattern?) async throws(Finding) {
        if let target {
            if capture.capture == nil { return }
            capture.addServer(target)
        }
        let patience = MonotonicTime.now + .seconds(1)
        while !starts.begin(subject, at: target, isForced: MonotonicTime.now >= patience) {
            try checkFault()
            await pause(until: .now + .milliseconds(1))
        }
    }

    /// The subject has reported `started` or `stopped`, or refused to start.
    func noteSettled(_ subject: SubjectActor, at time: MonotonicTime, isConnected: Bool, hasEnded: Bool) {
        let moment = capture.captureTime(of: time) &+ UInt64(clamping: capture.clock.uncertainty)
        starts.settle(subject, at: moment, isConnected: isConnected, hasEnded: hasEnded)
    }
}
