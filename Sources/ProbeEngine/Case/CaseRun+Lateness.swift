import ProbeEvents
import ProbeScenario
import ProbeSystem

/// `within` and `after`: every step that waits for an event is judged here, by when the event came and not by when the step looked.
///
/// An event has the time at which the harness noticed it. Where the harness stood still meanwhile (it was stopped, or the machine was
/// busy), it may have come earlier: a verdict that depends on that is inconclusive.
extension CaseRun {
    /// - Parameters:
    ///   - moment: when the event came.
    ///   - what: the event, as a noun: `the connection`.
    ///   - start: when the step before ended.
    ///   - own: how long the step itself kept the harness busy: what it looked for meanwhile it would have found.
    ///   - isExact: it can't have come earlier than it was noticed, whatever held up the harness.
    func judgeTime(
        _ moment: MonotonicTime, _ what: String, _ deadline: MonotonicTime, _ timing: Timing, _ start: MonotonicTime,
        own: Duration = .zero, isExact: Bool = false
    ) throws(Finding) {
        if moment > deadline {
            let late =
                "\(what) came \(DurationText.text(moment - deadline)) after the deadline of "
                + DurationText.text(deadline - start)
            if moment + own <= reactor.extended(deadline, from: start) {
                throw stoodStill(late, from: start, to: moment)
            }
            throw Finding(.failed, late)
        }
        guard let after = timing.after else { return }
        if moment < start + after {
            let when =
                moment <= start ? "before the step began" : "\(DurationText.text(moment - start)) after the step before"
            throw Finding(.failed, "\(what) came \(when), earlier than \(DurationText.text(after))")
        }
        if !isExact, reactor.hides(start + after, from: moment) {
            throw stoodStill(
                "\(what) was seen \(DurationText.text(moment - start)) after the step before", from: start, to: moment)
        }
    }

    /// What was to stay away until `end` came at `moment`.
    ///
    /// - Returns: nil when it came after that.
    func breaksSilence(
        _ what: String, at moment: MonotonicTime, from start: MonotonicTime, to end: MonotonicTime
    ) throws(Finding) -> Bool {
        if moment <= end { return true }
        if moment > reactor.extended(end, from: start) { return false }
        throw stoodStill(
            "\(what) \(DurationText.text(moment - end)) after the silence of \(DurationText.text(end - start))",
            from: start, to: moment)
    }

    /// Whether the other end of a connection is the harness's own: its steps do nothing while the harness stands still.
    func hasOwnPeer(_ connection: Connection) -> Bool {
        guard let (local, peer) = ends(connection) else { return false }
        return connections.contains { other in
            guard let ends = ends(other.connection) else { return false }
            return ends == (peer, local)
        }
    }

    private func ends(_ connection: Connection) -> (local: SocketAddress, peer: SocketAddress)? {
        guard let local = connection.local, let peer = connection.peer else { return nil }
        return (local.canonical, peer.canonical)
    }

    /// Whether a duration that began at `start` is over, also for what stood still with the harness.
    func isOver(_ end: MonotonicTime, from start: MonotonicTime) -> Bool {
        let now = MonotonicTime.now
        return now >= end && now >= reactor.extended(end, from: start)
    }

    private func stoodStill(_ what: String, from start: MonotonicTime, to moment: MonotonicTime) -> Finding {
        let length = DurationText.text(reactor.standstill(from: start, to: moment))
        return Finding(
            .inconclusive,
            "\(what), but the harness itself stood still for \(length) meanwhile: when it came can't be told",
            hints: ["the process was stopped, or the machine was busy or suspended: run the case again"])
    }
}
