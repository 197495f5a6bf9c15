import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeSystem

/// Samples of a crowd's progress: one at the start, one at the end, and at most a few hundred in between.
///
/// If there are too many samples, every second one is dropped and the sampling interval is doubled.
struct CrowdSamples {
    /// The maximum number of samples, not counting the last one.
    static let most = 256

    /// The time at which the crowd began.
    let start: MonotonicTime
    private(set) var all: [CrowdResult.Sample]
    /// The minimum interval between two samples.
    private(set) var interval = Duration.milliseconds(50)
    /// The question that was sent to the workers for the next sample; `nil` once all workers have answered.
    fileprivate var question: CrowdActor.Question?

    /// Creates the samples, beginning with a sample at time zero that shows no progress.
    ///
    /// - Parameter start: the time at which the crowd began.
    init(from start: MonotonicTime) {
        self.start = start
        all = [CrowdResult.Sample(time: 0, connected: 0, done: 0, failed: 0, sent: 0, received: 0)]
    }

    /// Adds a sample, unless the snapshot follows the previous sample too soon.
    ///
    /// - Parameters:
    ///   - time: the time of the snapshot. A snapshot that is not later than the previous sample is dropped.
    ///   - isLast: whether to keep the sample regardless of the interval.
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
    /// Samples the crowd periodically, until the crowd has been reported or has stopped.
    ///
    /// - Parameter moment: the time at which the first member begins.
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
            // A slow worker is not asked again before it has answered.
            if samples?.question == nil { samples?.question = ask(latencies: false, at: .now) }
            scheduleSample(on: reactor)
        }
    }
}
