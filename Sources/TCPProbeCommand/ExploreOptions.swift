import ArgumentParser
import Glibc
import ProbeBase
import ProbeEngine
import ProbeExplore
import ProbeScenario
import ProbeTransport

/// The options that `explore` and `shrink` share.
struct ExploreOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var subjects: SubjectArguments

    @Option(
        name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp("Variations that run at a time; default: as many as there are processors.", valueName: "n"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp("Where the smallest scenarios and their captures go.", valueName: "dir"),
        completion: .directory)
    var out = "tcpprobe-out"

    @OptionGroup var targets: TargetOptions

    @Flag(name: .customLong("no-process"), help: "Start no programs: for scripts from strangers.")
    var forbidsProcesses = false

    func validate() throws {
        if out.isEmpty { throw ValidationError("--out: the folder's name is empty") }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("-j \(jobs): it must be 1 to 256") }
    }

    /// Variations at a time.
    var parallel: Int { jobs ?? max(1, min(16, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The cases that the arguments choose. The text of each script has that of its includes in it.
    func chosenJobs() throws -> [RunJob] {
        let jobs = try selection.select(allowing: targets.targets()).jobs
        return try jobs.map { job in
            guard job.plan.sources.files.count > 1 else { return job }
            let compiled = ScenarioCompiler.compile(
                path: job.path, bytes: IncludedFiles(job.plan.sources).inlined(), settings: selection.settings,
                allowing: try targets.targets(), loader: FileAccess.load)
            guard let plan = compiled.plan, let casePlan = plan.cases.first(where: { $0.label == job.casePlan.label })
            else {
                throw Failure.wrongUse(
                    "\(Escaped.text(job.path)): what it includes can't be written into it; write it there yourself, then run this again"
                )
            }
            var result = job
            result.plan = plan
            result.casePlan = casePlan
            result.index = StepIndex(plan.scenario)
            return result
        }
    }
}
