import ProbeEvents
import ProbeScenario
import ProbeSockets

/// `within` and `after`: every step that waits for an event is judged here, by when the event came and not by when the step looked.
extension CaseRun {
    /// - Parameters:
    ///   - moment: when the event came.
    ///   - what: the event, as a noun: `the connection`.
    ///   - start: when the step before ended.
    func judgeTime(
        _ moment: MonotonicTime, _ what: String, _ deadline: MonotonicTime, _ timing: Timing, _ start: MonotonicTime
    ) throws(Finding) {
        if moment > deadline {
            throw Finding(
                .failed,
                "\(what) came \(DurationText.text(moment - deadline)) after the deadline of "
                    + DurationText.text(deadline - start))
        }
        guard let after = timing.after, moment < start + after else { return }
        let when =
            moment <= start ? "before the step began" : "\(DurationText.text(moment - start)) after the step before"
        throw Finding(.failed, "\(what) came \(when), earlier than \(DurationText.text(after))")
    }
}
