import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// Assembles the reports about a case that has ended: its result, its timeline, and its capture file.
struct CaseReport {
    let context: CaseContext

    /// Returns the result of the case. Also writes the capture file if captures are kept, and releases the packets.
    func result(_ findings: [Finding]) -> CaseResult {
        let (job, scenario, faults) = (context.job, context.scenario, context.faults)
        let ordered = findings.enumerated().sorted {
            ($0.element.verdict, $0.offset) < ($1.element.verdict, $1.offset)
        }.map { explained($0.element) }
        let verdict = ordered.first?.verdict ?? .passed
        var result = CaseResult(
            id: job.id, path: job.path, sources: context.sources, title: scenario.title.value, about: scenario.about,
            because: scenario.because, level: scenario.level, tags: scenario.tags,
            subject: context.hasSubject ? job.subject?.name : nil, verdict: verdict, findings: ordered, timeline: [],
            duration: context.time.elapsed(.now), capturePath: nil, rerun: context.settings.rerun(job))
        if context.settings.repetitions > 1 { result.round = job.round }
        result.crowds = context.crowdResults
        result.isInterrupted = faults.wasInterrupted && verdict == .error
        if verdict != .skipped && verdict != .unsupported {
            do throws(Finding) {
                if keepsCapture(of: verdict) { result.capturePath = try writeCapture() }
            } catch {
                result.findings.append(error)
                result.verdict = min(result.verdict, error.verdict)
            }
            if verdict != .passed || context.settings.keepsTimelines {
                result.timeline = mergedTimeline()
            }
            if verdict == .failed { result.cause = cause() }
        }
        context.capture.release()
        return result
    }

    /// Returns the finding, with an additional hint if its bytes contain replacement characters.
    private func explained(_ finding: Finding) -> Finding {
        guard let expected = finding.expected, let actual = finding.actual,
            let hint = NearMiss.replacement(expected: expected, actual: actual)
        else { return finding }
        var finding = finding
        finding.hints.insert(hint, at: 0)
        return finding
    }

    private func keepsCapture(of verdict: Verdict) -> Bool {
        switch context.settings.keep {
        case .all: true
        case .failed: verdict != .passed
        case .none: false
        }
    }
}
