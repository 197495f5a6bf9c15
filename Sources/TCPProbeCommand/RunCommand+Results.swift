import Glibc
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario

extension RunCommand {
    /// The cases that are run here, of all cases of the plan.
    ///
    /// - Throws: the exit code of wrong use, after the message was printed, if a file of `--timings` can't be used.
    func division(_ whole: [RunJob], _ shard: ShardOptions.Choice?) throws -> RunDivision {
        if shards.timings.isEmpty { return RunDivision(whole, shard) }
        var times = CaseTimes()
        for path in shards.timings {
            for (key, time) in try ResultsFile.read(path, for: "--timings: ").caseTimes { times.add(key, time: time) }
        }
        return RunDivision(whole, shard, times: times)
    }

    /// What `--results` says before the cases; nil without it.
    ///
    /// - Throws: the exit code of wrong use, after the message was printed, if the environment's number of the try can't be read.
    func resultsHead(_ division: RunDivision, _ options: ReportOptions) throws -> ResultsHead? {
        guard reports.results != nil else { return nil }
        var head = ResultsHead(
            planHash: digest(division, options.rules), planCases: division.whole.count, places: division.places)
        head.version = options.version
        head.division = division.division
        head.share = division.share
        head.crowdShare = try crowds.choice()?.share
        do throws(ShardProblem) {
            head.attempt = try ShardEngine.attempt(ShardOptions.variable)
        } catch {
            throw Failure.wrongUse("--results: \(error)")
        }
        head.isStrict = strict
        head.hasSeveralSubjects = options.hasSeveralSubjects
        head.startedAt = options.startedAt
        return head
    }

    /// Of all on which the verdicts depend, as far as the tool knows it.
    private func digest(_ division: RunDivision, _ rules: RunRules) -> String {
        var digest = PlanDigest()
        for assignment in selection.assignments { digest.add(option: "set", assignment) }
        digest.add(option: "seed", "\(seed)")
        digest.add(option: "time-scale", "\(timeScale)")
        digest.add(option: "repeat", "\(repetitions ?? 1) \(untilFail)")
        digest.add(option: "rules", "\(strict) \(isOverTLS) \(forbidsProcesses) \(omitsSecrets)")
        for target in targets.allowed { digest.add(option: "allow-target", target) }
        var named = NamedFiles()
        var lastPath: String?
        for job in division.whole {
            digest.add(job.key, path: job.path, sources: job.plan.sources)
            if job.path != lastPath {
                let hash = named.hash(of: job.plan.sources, script: job.path, load: FileAccess.load)
                digest.add(option: "files", "\(hash)")
                lastPath = job.path
            }
            if let expected = rules.expectations[job.key] { digest.add(option: "expect", expected.word) }
        }
        return digest.text
    }
}
