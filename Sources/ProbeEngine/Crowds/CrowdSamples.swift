import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeSystem

/// What a crowd had reached at moments of its time: the first and the last one, and at most a few hundred between them.
///
/// When there are too many, every second one is dropped, and the next ones are taken half as often.
struct CrowdSamples {
    /// More are not kept, but for the last one.
    static let most = 256

    /// When the crowd began.
    let start: MonotonicTime
    private(set) var all: [CrowdResult.Sample]
    /// From one sample to the next, at least.
    private(set) var interval = Duration.milliseconds(50)
    /// Asked for the next sample, and not answered yet.
    fileprivate var question: CrowdActor.Question?

    /// - Parameter start: nothing has been reached then.
    init(from start: MonotonicTime) {
        self.start = start
        all = [CrowdResult.Sample(time: 0, connected: 0, done: 0, failed: 0, sent: 0, received: 0)]
    }

    /// - Parameters:
    ///   - time: to which the snapshot belongs. One that is not behind the sample before it is dropped.
    ///   - isLast: it is kept, however soon it comes.
    mutating func add(_ snapshot: CrowdSnapshot, at time: MonotonicTime, isLast: Bool = false) {
        let nanoseconds = (time - start).nanoseconds
        guard let last = all.last, nanoseconds > last.time,
            isLast || nanoseconds - last.time >= interval.nanoseconds
        else { return }
        all.append(
            CrowdResult.Sample(
                time: nanoseconds, connected: snapshot.connected, done: snapshot.done, failed: snapshot.failed,
                sent: snapshot.sent, received: snapshot.received))
        if !isLast, all.count > Self.most { halve() }
    }

    private mutating func halve() {
        all = all.enumerated().filter { $0.offset % 2 == 0 || $0.offset == all.count - 1 }.map(\.element)
        interval *= 2
    }
}

extension CrowdActor {
    /// Asks the workers again and again, until the crowd is reported or stops.
    ///
    /// - Parameter moment: when its first member begins.
    func beginSampling(from moment: MonotonicTime, on reactor: Reactor) {
        samples = CrowdSamples(from: moment)
        scheduleSample(on: reactor)
    }

    private func scheduleSample(on reactor: Reactor) {
        guard let started = samples?.start, let interval = samples?.interval else { return }
        _ = reactor.schedule(at: max(.now, started) + interval) { [weak self, weak reactor] in
            guard let self, let reactor, samples?.start == started, phase == .running, !isReported, problem == nil
            else { return }
            if let question = samples?.question, let answer = take(question) {
                samples?.add(answer, at: question.time)
                samples?.question = nil
            }
            // A worker that is slow to answer is not asked more often than it answers.
            if samples?.question == nil { samples?.question = ask(latencies: false, at: .now) }
            scheduleSample(on: reactor)
        }
    }
}
