import ArgumentParser
import CShims
import Glibc
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeTransport
import ProbeScenario

/// Which reports a run writes beside the console's.
struct ReportArguments: ParsableArguments {
    @Option(help: ArgumentHelp("Write a JUnit report.", valueName: "file"))
    var junit: String?

    @Option(help: ArgumentHelp("Write a TAP 14 report.", valueName: "file"))
    var tap: String?

    @Option(help: ArgumentHelp("Write events, one JSON object a line (docs/events.schema.json).", valueName: "file"))
    var json: String?

    @Flag(help: "Print annotations for GitHub Actions as well.")
    var github = false

    /// All recorders of the run.
    ///
    /// - Throws: the exit code, after the message, when a file can't be written.
    func recorders(_ jobs: [RunJob], options: ReportOptions) throws -> RecorderSet {
        let planned = jobs.map { job in
            PlannedCase(id: job.id, path: job.path, subject: job.plan.scenario.hasSubject ? job.subject?.name : nil)
        }
        var set = RecorderSet(planned: planned, strict: options.strict)
        let style = ConsoleRecorder.Style(
            usesColor: Console.standardOutput.usesColor, progressWidth: Console.standardOutput.progressWidth)
        set.attach(ConsoleRecorder(style: style, options: options)) { Console.standardOutput.write($0) }
        if github {
            let token = String(UInt64.random(in: .min ... .max), radix: 36)
            let workspace = getenv("GITHUB_WORKSPACE").map { String(cString: $0) }
            set.attach(GitHubRecorder(options: options, token: token, workspace: workspace)) {
                Console.standardOutput.write($0)
            }
        }
        do {
            if let junit { set.attach(JUnitRecorder(options: options), to: try ReportFile(junit)) }
            if let tap { set.attach(TAPRecorder(options: options), to: try ReportFile(tap)) }
            if let json { set.attach(JSONRecorder(options: options), to: try ReportFile(json)) }
        } catch {
            Console.standardError.write("error: \(error); another path or none\n")
            throw ExitCode(3)
        }
        return set
    }
}
