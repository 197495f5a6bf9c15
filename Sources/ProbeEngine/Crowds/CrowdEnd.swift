import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem

/// Reports and judges crowds when they end.
struct CrowdEnd {
    let context: CaseContext

    /// The maximum number of failure reasons to show.
    private static let maxShown = 5
    /// How long workers may take to report the state of their members.
    private static let timeout = Duration.seconds(5)

    /// Asks each running crowd for the state of its members, and adds the measurements to the timeline.
    func report() async {
        for name in context.actors.order {
            if case .crowd(let crowd)? = context.actors[name] { await report(crowd) }
        }
    }

    /// Reports a crowd once for each start, even if the case has already failed.
    func report(_ crowd: CrowdActor) async {
        guard crowd.phase == .running, !crowd.isReported, crowd.problem == nil else { return }
        crowd.isReported = true
        let question = crowd.ask(latencies: true, rests: true, at: .now)
        let deadline = MonotonicTime.now + Self.timeout
        while crowd.problem == nil {
            if let snapshot = crowd.take(question) {
                let all =
                    [Self.summary(of: snapshot)] + elsewhere(in: snapshot, of: crowd)
                    + failures(in: snapshot, of: crowd)
                for line in all + LatencyText.plot(snapshot) {
                    context.record(.event(actor: crowd.name, line))
                }
                crowd.samples?.add(snapshot, at: question.time, isLast: true)
                context.crowdResults.append(result(snapshot, of: crowd))
                return
            }
            if MonotonicTime.now >= deadline {
                crowd.isSilent = true
                return
            }
            await context.pause(until: deadline)
        }
    }

    private func result(_ snapshot: CrowdSnapshot, of crowd: CrowdActor) -> CrowdResult {
        let latencies = MemberWait.allCases.compactMap { wait -> CrowdResult.Latency? in
            guard let record = snapshot.latencies[wait], record.count > 0 else { return nil }
            var latency = CrowdResult.Latency(
                wait: wait.rawValue, count: record.count, failed: record.failed,
                percentiles: record.percentiles().map { percentile, time in
                    (Percentile(value: percentile).text, time.nanoseconds == .max ? nil : time.nanoseconds)
                })
            latency.buckets = record.buckets
            return latency
        }
        var result = CrowdResult(
            name: crowd.name, members: crowd.count,
            counts: [
                ("began", snapshot.started), ("connected", snapshot.connected), ("alive", snapshot.alive),
                ("failed", snapshot.failed), ("done", snapshot.done), ("sent", snapshot.sent),
                ("received", snapshot.received), ("refused", snapshot.refused),
            ], failures: failures(in: snapshot, of: crowd), latencies: latencies)
        result.samples = crowd.samples?.all ?? []
        return result
    }

    private static func summary(of snapshot: CrowdSnapshot) -> String {
        "\(snapshot.started) began, \(snapshot.connected) connected, \(snapshot.alive) alive, \(snapshot.failed) failed, "
            + "\(snapshot.done) done; \(snapshot.sent) bytes sent, \(snapshot.received) received"
            + (snapshot.refused > 0 ? "; \(ByteText.count(snapshot.refused, "excess connection")) refused" : "")
    }

    /// Returns a line that reports the number of connections from the alternative source addresses. The line is needed
    /// because a server may treat only 127.0.0.1 as local.
    private func elsewhere(in snapshot: CrowdSnapshot, of crowd: CrowdActor) -> [String] {
        guard snapshot.elsewhere > 0, let first = crowd.ends.first, let other = crowd.ends.other else { return [] }
        let count = snapshot.elsewhere == 1 ? "1 connection" : "\(snapshot.elsewhere) connections"
        return ["\(count) had the source address \(other.text), because \(first.text) had no free port"]
    }

    /// Returns the places in the script where members failed, and the reasons, with the most frequent failure first.
    func failures(in snapshot: CrowdSnapshot, of crowd: CrowdActor) -> [String] {
        let all = snapshot.failures.sorted { $0.count > $1.count }
        let shown = all.prefix(Self.maxShown).map { failure in
            let members = failure.count == 1 ? "1 member" : "\(failure.count) members"
            guard failure.instruction < crowd.script.places.count, failure.instruction >= 0 else {
                return "\(members) failed: \(Escaped.text(failure.reason.utf8))"
            }
            let span = crowd.script.places[failure.instruction]
            return "\(members) failed at line \(context.sources.location(of: span).line) (\(context.text(of: span))): "
                + Escaped.text(failure.reason.utf8)
        }
        let more = all.dropFirst(Self.maxShown).reduce(0) { $0 + $1.count }
        return shown + (more > 0 ? ["\(more) more failed for other reasons"] : [])
    }

    /// Returns a finding about a problem that no step of the case has judged: failures that no step allows, bytes that
    /// no statement consumed, or a crowd that did not answer.
    func unhandledFinding() -> Finding? {
        for name in context.actors.order {
            guard case .crowd(let crowd)? = context.actors[name] else { continue }
            if let finding = unhandledFinding(of: crowd) { return finding }
        }
        return nil
    }

    /// Returns the finding about the first of the crowd's starts in which a problem occurred that no step has judged;
    /// `nil` if there was no such problem.
    func unhandledFinding(of crowd: CrowdActor) -> Finding? {
        crowd.unhandledFinding ?? failures(of: crowd) ?? rest(of: crowd) ?? silence(of: crowd)
    }

    private func failures(of crowd: CrowdActor) -> Finding? {
        guard let snapshot = crowd.last else { return nil }
        if let finding = obstacle(in: snapshot, of: crowd) { return finding.at(crowd.span) }
        guard snapshot.failed > crowd.toleratedFailures ?? 0 else { return nil }
        let summary =
            "\(snapshot.failed) of \(crowd.name)'s \(ByteText.count(crowd.count, "member")) could not follow their "
            + "script"
        if let tolerated = crowd.toleratedFailures {
            return Finding(
                .failed, at: crowd.span,
                "\(summary): the last step that judged the members allows at most \(tolerated) of them to fail, but "
                    + "more failed later",
                details: failures(in: snapshot, of: crowd) + elsewhere(in: snapshot, of: crowd),
                hints: [
                    "repeat `\(crowd.name) expect failed` after the step that makes members fail, or add "
                        + "`\(crowd.name) stop` before that step: members are judged again when the crowd ends"
                ])
        }
        return Finding(
            .failed, at: crowd.span, summary,
            details: failures(in: snapshot, of: crowd) + elsewhere(in: snapshot, of: crowd),
            hints: [
                "add a step that states how many members may fail, such as `\(crowd.name) expect failed <= 10`, "
                    + "or a step about `alive` or `done`; each of these steps applies to one start of the crowd"
            ])
    }

    /// Returns the finding about what prevented members from following their script, if the program that served them is
    /// not the cause.
    func obstacle(in snapshot: CrowdSnapshot, of crowd: CrowdActor) -> Finding? {
        switch snapshot.obstacle {
        case .harnessLimit:
            Finding(
                .error, "members of \(crowd.name) reached a limit of the harness",
                details: failures(in: snapshot, of: crowd), hints: [InputMatcher.Mismatch.limitHint])
        case .machine(let fault):
            Finding(
                .error, "members of \(crowd.name) encountered a machine error: \(fault.rawValue), \(fault.reason)",
                details: failures(in: snapshot, of: crowd) + ResourcesLeft.of(crowd.workers.map(\.child.pid)),
                hints: [fault.advice])
        case nil: nil
        }
    }

    /// Returns a failure if members received bytes that no statement consumed. As on any connection of the harness,
    /// unconsumed bytes make the case fail.
    private func rest(of crowd: CrowdActor) -> Finding? {
        guard let snapshot = crowd.last, snapshot.withRest > 0 else { return nil }
        let example = snapshot.rest
        let count = example.map { $0.count == 1 ? "1 byte" : "\($0.count) bytes" }
        return Finding(
            .failed, at: crowd.span,
            "\(snapshot.withRest) of \(crowd.name)'s \(ByteText.count(crowd.count, "member")) received bytes that no "
                + "statement of their script consumed",
            expected: example.map { _ in [] }, actual: example?.bytes,
            details: count.map {
                [
                    "for example, one member received \($0)"
                        + (example?.bytes.isEmpty == true ? " that it did not read" : "")
                ]
            } ?? [],
            hints: [
                "in the script of \(crowd.name), add an `expect` that consumes the bytes, or `ignore rest` if the "
                    + "bytes don't matter"
            ])
    }

    private func silence(of crowd: CrowdActor) -> Finding? {
        guard crowd.isSilent else { return nil }
        return Finding(
            .inconclusive, at: crowd.span,
            "\(crowd.name) did not report the final state of its members within \(DurationText.script(Self.timeout))",
            hints: ["reduce the number of members, or run fewer cases at a time: the machine is too busy"])
    }
}
