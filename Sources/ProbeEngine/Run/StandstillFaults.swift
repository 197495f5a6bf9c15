import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Detects failures that the harness may have caused by stalling.
///
/// While a process or a thread of the harness is stalled, its actions are late, so a time limit of another party may
/// expire. Such a limit can be an idle timeout, a heartbeat, the socket timeout of a program, or a TCP timer. The
/// reaction of the other party is then no evidence of a bug in that party. The harness extends its own waits by the
/// time for which it was stalled, so cases without other parties are always judged exactly.
struct StandstillFaults {
    let context: CaseContext

    /// The time allowed for a worker of a crowd to report its stalls. A worker that takes longer counts as stalled.
    private static let timeout = Duration.seconds(1)

    /// Returns the case's findings, in which a failure is inconclusive if the harness was stalled for too long before
    /// the failure. The stalls are noted in the timeline.
    ///
    /// - Parameter fromSteps: the number of findings that come from steps, and the time at which the last step ended.
    func excused(_ findings: [Finding], fromSteps: (count: Int, end: MonotonicTime)) async -> [Finding] {
        let hasFailed = findings.contains { $0.verdict == .failed }
        let now = MonotonicTime.now
        let places = places(hasFailed ? await workers() : [])
        let limits = StandstillLimit.all(of: context)
        record(places, limits)
        guard hasFailed else { return findings }
        return findings.enumerated().map { index, finding in
            let end = finding.decided ?? (index < fromSteps.count ? fromSteps.end : now)
            let latency = finding.excess.map { [StandstillLimit.latency($0, in: context.scenario)] } ?? []
            return Self.excused(
                finding, Self.cause(in: places, from: context.time.start, to: end, limits + latency))
        }
    }

    // MARK: What can stall

    /// A process or a thread of the harness, and the times at which it was stalled.
    struct Place {
        enum Kind: Equatable {
            /// The run's own thread, which runs servers, clients and proxies.
            case run
            case link
            case crowd
        }

        var kind: Kind
        /// The name of the process or thread in messages, such as `the harness itself` or `a worker of W`.
        var name: String
        var standstills: Standstills
    }

    private func places(_ workers: [Place]) -> [Place] {
        [Place(kind: .run, name: "the harness itself", standstills: context.reactor.currentStandstills())]
            + context.links.standstills.map { Place(kind: .link, name: "the thread of a link", standstills: $0) }
            + workers
    }

    /// Returns the workers of all crowds. A worker that does not answer counts as stalled since the last message from
    /// it.
    private func workers() async -> [Place] {
        var all: [(worker: CrowdWorkerProcess, name: String)] = []
        for name in context.actors.order {
            switch context.actors[name] {
            case .crowd(let crowd)?:
                all += (crowd.earlier + crowd.workers).map { ($0, "a worker of \(name)") }
            case .server(let server)?:
                all += (server.sinks.earlier + server.sinks.workers).map {
                    ($0, "a worker that accepts the connections of a crowd for \(name)")
                }
            default: continue
            }
        }
        for (worker, _) in all where !worker.isDismissed { _ = worker.ask(latencies: false) }
        let deadline = MonotonicTime.now + Self.timeout
        while all.contains(where: { $0.worker.hasUnansweredQuestion }), MonotonicTime.now < deadline {
            await context.pause(until: deadline)
        }
        return all.map { worker, name in
            var standstills = worker.standstills
            if worker.hasUnansweredQuestion { standstills.add(from: worker.lastHeard, to: .now) }
            return Place(kind: .crowd, name: name, standstills: standstills)
        }
    }

    // MARK: Judging

    /// Describes the longest stall of the first process or thread that was stalled for too long, given the time limits
    /// in force; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - start: the time at which the case began.
    ///   - end: the time at which the case failed. Stalls after that time can't be the cause.
    static func cause(
        in places: [Place], from start: MonotonicTime, to end: MonotonicTime, _ limits: [StandstillLimit]
    ) -> String? {
        for place in places {
            guard let limit = shortest(limits, for: place.kind),
                let longest = place.standstills.longest(from: start, to: end),
                longest.to - longest.from > limit.harmless
            else { continue }
            return
                ("\(place.name) stood still for \(DurationText.script(longest.to - longest.from)) at "
                + "\(DurationText.script(longest.from - start)), too long for \(limit.text) ("
                + DurationText.script(limit.time) + ")")
        }
        return nil
    }

    private static func shortest(_ limits: [StandstillLimit], for kind: Place.Kind) -> StandstillLimit? {
        limits.filter { $0.places.contains(kind) }.min { $0.harmless < $1.harmless }
    }

    static func excused(_ finding: Finding, _ cause: String?) -> Finding {
        guard let cause, finding.verdict == .failed else { return finding }
        var finding = finding
        finding.verdict = .inconclusive
        finding.summary += ", but \(cause)"
        finding.hints = ["run the case again: the process was stopped, or the machine was busy or suspended"]
        return finding
    }

    // MARK: The timeline

    /// The duration up to which a stall is noted in the timeline only if the stall exceeds a limit.
    private static let noted = Duration.milliseconds(250)

    private func record(_ places: [Place], _ limits: [StandstillLimit]) {
        let run = places[0].standstills
        for place in places {
            let least = min(Self.shortest(limits, for: place.kind)?.harmless ?? Self.noted, Self.noted)
            for (from, to) in place.standstills.all(from: context.time.start) where to - from > least {
                // A stall of the whole process also stalls the link's thread. Such a stall is noted only once.
                if place.kind == .link, run.total(from: from, to: to) > (to - from) / 2 { continue }
                context.record(.note("\(place.name) stood still for \(DurationText.script(to - from))"), at: from)
            }
        }
    }
}
