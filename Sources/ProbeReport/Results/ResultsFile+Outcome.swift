import ProbeBase
import ProbeEvents

/// How the run of a file ended, and what is wrong with that.
extension ResultsFile {
    /// `SIGINT`; nil if the run was not interrupted.
    var interruptionText: String? {
        var summary = RunSummary()
        summary.interruptedBy = end.interruptedBy
        return summary.interruptionText
    }

    /// What the run did not do, and for no reason that it tells, as an error of the run; nil if it did all, or says why not.
    var gapText: String? {
        guard end.interruptedBy == nil, !end.hasGivenUpSubject, ownExitCode == 0 else { return nil }
        let again = "run it again, and merge all results"
        let unrun = unrunCases
        let count = max(end.notRun, unrun.count)
        if count > 0 {
            let example = unrun.first.map { ", such as \($0.id)" } ?? ""
            let results = unrun.isEmpty ? "result" : "case"
            return
                "\(path): \(head.name) lacks \(ByteText.count(count, results)) that \(count == 1 ? "was" : "were") not run\(example), and does not say why; \(again)"
        }
        if !end.isComplete {
            return "\(path): \(head.name) says that it is not complete, and not what is missing; \(again)"
        }
        return end.exitCode == 0
            ? nil
            : "\(path): \(head.name) ended with exit code \(end.exitCode), and no result says why; \(again)"
    }

    /// That the run failed, for a whole in which nothing else does; nil if it passed.
    var failureText: String? {
        let code = max(end.exitCode, ownExitCode)
        return code == 0 ? nil : "\(path): \(head.name) ended with exit code \(code), so the whole did not pass"
    }

    /// What the results and the errors of the run come to.
    private var ownExitCode: Int32 {
        counts.exitCode(isStrict: head.isStrict, hasRunErrors: !end.runErrors.isEmpty)
    }

    private var unrunCases: [PlannedCase] {
        let begun = Set(entries.map(\.item))
        return planned.indices.filter { !begun.contains($0) }.map { planned[$0].item }
    }
}
