import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// One start of a subject, used to identify the subject's connections. Times are wall-clock times in nanoseconds.
struct SubjectStart {
    var began: UInt64
    /// The time by which the subject had reported `started` or `stopped`; `nil` if it has not reported either.
    var settled: UInt64?
    var ended: UInt64?
    var isConnected = false
    /// The start's number in ``ExternalStarts`` and its target, if the target is a server outside the run.
    var external: (number: Int, target: EndpointPattern)?
}

/// A log of the times at which a case's subjects and programs were started, which determine the owners of connections.
struct StartLog {
    /// The number of the case, which is unique in this process.
    let caseNumber = ExternalStarts.shared.newCase()
    /// A counter of the starts and ends of subjects and programs.
    private(set) var revision = 0

    mutating func noteProgram() { revision += 1 }

    /// Registers a start, unless another case is starting a subject that connects to the same server outside the run.
    ///
    /// - Returns: `false` if the start must wait.
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

    /// Records that the subject has reported `started` or `stopped`, or has refused to start.
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

    /// Records that the subject has lost its connection, or that a connection attempt has failed, so the subject will
    /// connect to the same target again.
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

    /// Ends all starts, so that other cases no longer wait for them.
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
    /// Records the start of a subject immediately before the subject is asked to connect. From then on, a connection to
    /// the subject's target may be the subject's own.
    ///
    /// If another case is starting a subject that connects to the same server outside the run, this start waits
    /// briefly.
    ///
    /// - Parameter target: the endpoint of a server outside the run; `nil` for any other target.
    func noteStart(_ subject: SubjectActor, at target: EndpointPattern?) async throws(Finding) {
        if let target {
            if capture.capture == nil { return }
            capture.addServer(target)
        }
        let deadline = MonotonicTime.now + .seconds(1)
        while !starts.begin(subject, at: target, isForced: MonotonicTime.now >= deadline) {
            try checkFault()
            await pause(until: .now + .milliseconds(1))
        }
    }

    /// Records that the subject has reported `started` or `stopped`, or has refused to start.
    func noteSettled(_ subject: SubjectActor, at time: MonotonicTime, isConnected: Bool, hasEnded: Bool) {
        let moment = capture.captureTime(of: time) &+ UInt64(clamping: capture.clock.uncertainty)
        starts.settle(subject, at: moment, isConnected: isConnected, hasEnded: hasEnded)
    }
}
