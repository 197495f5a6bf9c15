import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeExplore
import ProbeReport
import ProbeScenario

/// Prints the console output of `explore` and `shrink` for one case.
struct ExploreText {
    private let console: Console
    private let job: RunJob
    private let options: ExploreOptions

    init(console: Console, job: RunJob, options: ExploreOptions) {
        self.console = console
        self.job = job
        self.options = options
    }

    /// The name of the case as it appears in file names.
    var name: String { Self.name(of: job) }

    static func name(of job: RunJob) -> String {
        let id = ScenarioFiles.ownID(of: job.path) + job.casePlan.label
        return String(id.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "-" })
    }

    private var shownID: String { Escaped.text(job.id.utf8) }

    // MARK: Progress

    func show(_ progress: ExploreProgress, left: Int?) {
        guard let width = console.progressWidth else { return }
        console.write("\r\u{1B}[K" + Columns.cut("\(shownID)  \(progress.text(left: left))", to: width - 1))
    }

    func clear() {
        if console.progressWidth != nil { console.write("\r\u{1B}[K") }
    }

    // MARK: Results

    /// Prints the reason why nothing was explored.
    ///
    /// - Returns: the exit code.
    func printReport(_ outcome: ExploreOutcome) -> Int32 {
        switch outcome {
        case .fails(let result) where result.verdict == .skipped || result.verdict == .unsupported:
            console.write("\(shownID): can't be run on this machine: \(Self.reason(result))\n")
            return 3
        case .fails(let result):
            error(
                "\(shownID): does not pass as it is: \(Self.reason(result)). Its variations prove nothing; "
                    + "`tcpprobe run \(path)` shows details, `tcpprobe shrink \(path)` reduces it")
            return 2
        case .unstable(let passed, let runs, let result):
            console.write(
                "\(shownID): passes in only \(passed) of \(runs) runs without variations: \(Self.reason(result))\n"
                    + "Its variations would prove nothing, so it was not explored. `tcpprobe run \(path) --repeat 100` shows how often it fails.\n"
            )
            return 3
        case .nothingToVary:
            console.write(
                "\(shownID): no endpoint of the harness sends or reads anything, so there is nothing to vary\n"
            )
            return 3
        case .goodFails(let passed, let runs, let result):
            error(
                "\(shownID): the program given by --good passes in only \(passed) of \(runs) runs\(result.map { ": \(Self.reason($0))" } ?? ""). It must pass in all of them, because it shows what a correct program does"
            )
            return 2
        case .doesNotFail(let other):
            let why = other.map { ": \(Self.reason($0))" } ?? ""
            error(
                "\(shownID): did not fail in \(FailureRate.measured) runs\(why). `tcpprobe explore \(path)` looks for a variation that fails"
            )
            return 2
        case .interrupted:
            console.write("\(shownID): interrupted\n")
            return 0
        case .explored, .faults: return 0
        }
    }

    private var path: String { ShellWord.quoted(job.path) }

    private func error(_ text: String) { Console.standardError.write("error: \(text)\n") }

    private static func reason(_ result: CaseResult) -> String {
        guard let first = result.findings.first else { return result.verdict.rawValue }
        let place = first.span.map { "\(result.sources.location(of: $0)): " } ?? ""
        return Escaped.text("\(place)\(first.summary)".utf8)
    }

    /// Prints how many variations were tried, and which variations were left out.
    func printReport(_ report: ExploreReport, isExploring: Bool) {
        var text = ""
        if isExploring {
            let seconds = DurationText.fixed(report.elapsed / .seconds(1), digits: 1)
            text =
                "\(shownID): \(ByteText.count(report.tried, "variation")) in \(seconds) s (\(DurationText.fixed(report.rate, digits: 0)) per second), "
                + "single cuts \(report.singleCutsTried) of \(report.singleCuts)"
            if report.saved.tried > 0 { text += "; \(ByteText.count(report.saved.tried, "saved variation")) first" }
            let outdated = report.saved.all - report.saved.tried
            if outdated > 0 { text += "; \(ByteText.count(outdated, "saved variation")) no longer possible" }
            if report.rounds > 1 {
                text += "; all of them \(report.rounds - 1 == 1 ? "once" : "\(report.rounds - 1) times")"
            } else if report.isExhausted {
                text += report.isShare ? "; no others exist in this shard" : "; no others exist"
            }
            if report.unknown > 0 { text += "; \(report.unknown) inconclusive" }
            let haveAllPassed = report.findings.isEmpty && report.unknown == 0 && !report.isUnsettled
            text += haveAllPassed ? "; all passed\n" : "\n"
            if report.tried == 0, !report.isExhausted {
                text +=
                    "no variation was tried, because the runs without variations took all the time; use a longer `--for`\n"
            }
            for step in report.base.leftOutTexts {
                text += "left out, because it judges how data was cut: \(Escaped.text(step.utf8))\n"
            }
        }
        for other in report.others {
            text +=
                "\(report.findings.isEmpty ? "fails" : "also fails at another place"); that failure was not shrunk: \(Self.reason(other))\n"
        }
        for other in report.failedByGood {
            text +=
                "also fails with the program given by --good, so the failure was not shrunk: \(Self.reason(other))\n"
        }
        for other in report.unconfirmed {
            text +=
                "there was no time to check whether the program is only slow; use a longer `--for`: \(Self.reason(other))\n"
        }
        if let stability = report.stability {
            text +=
                "after the search, the scenario failed without variations in \(stability.text), so the findings may be due to chance\n"
        }
        for finding in report.rare {
            text +=
                "too rare to be shrunk: \(Self.reason(finding.result)); it failed in \(finding.shrunk.rate.text)\n"
        }
        console.write(text)
    }

    /// Prints how many faults were tried, and how the program reacted to them.
    func printReport(_ report: FaultExplorer.Report) {
        if let obstacle = report.obstacle {
            console.write("\(shownID): no fault was tried: \(Escaped.text(obstacle.utf8))\n")
            return
        }
        if let other = report.unconfirmed, !report.isInterrupted {
            console.write(
                "\(shownID): there was no time to check how often a failure occurs; use a longer `--for`: \(Self.reason(other))\n"
            )
        }
        let outcome =
            report.isInterrupted
            ? ", interrupted"
            : report.tried == 0
                ? ", because the runs before them took all the time; use a longer `--for`"
                : report.unconfirmed != nil && report.finding == nil
                    ? ""
                    : report.finding.map { "\n\(Self.reason($0.result))" }
                        ?? (report.failedByGood == 0
                            ? "; the program under test survived \(report.tried == report.all ? "all of them" : "those that were tried")"
                            : "; the program given by --good does not survive \(report.failedByGood) of them either; the program "
                                + "under test survived all others")
        if let note = report.note { console.write("note: \(shownID): \(note)\n") }
        console.write("\(shownID): \(report.tried) of \(ByteText.count(report.all, "fault")) tried\(outcome)\n")
    }

    /// Prints the path of a scenario that was written, and the conditions under which it fails.
    func printReport(_ written: FindingWriter.Written) {
        var text = "\(shownID) \(Escaped.text(written.sentence.utf8))\n"
        if let result = written.result { text += "  \(Self.reason(result))\n" }
        text += "  \(Escaped.text(written.path.utf8))"
        text += written.rate.runs > 0 ? "  fails with `tcpprobe run`: \(written.rate.text)\n" : "\n"
        for capture in written.captures { text += "  \(Escaped.text(capture.utf8))\n" }
        for note in written.notes { text += "  note: \(Escaped.text(note.utf8))\n" }
        if written.passing != written.failing {
            text += LineDifference.unified(
                old: written.passing, new: written.failing, path: Escaped.text("\(name).min.scn".utf8))
        }
        console.write(text)
    }
}
