import ArgumentParser
import Glibc
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeTransport

/// The options for the machine-readable reports that `run`, `explore` and `shrink` write.
struct ReportFiles: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write a JUnit report. As with every report, - writes to standard output; the console report then goes to standard error.",
            valueName: "file"), completion: .file())
    var junit: String?

    @Option(help: ArgumentHelp("Write a TAP 14 report.", valueName: "file"), completion: .file())
    var tap: String?

    @Option(
        help: ArgumentHelp("Write events, one JSON object per line (docs/events.schema.json).", valueName: "file"),
        completion: .file())
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write an HTML page that shows each case with its script and a diagram of what happened: a single file, without JavaScript.",
            valueName: "file"), completion: .file(extensions: ["html"]))
    var html: String?

    @Flag(help: "Also print annotations for GitHub Actions.")
    var github = false

    @Option(
        help: ArgumentHelp(
            "Write the results as a table of cases and subjects. The extension selects the format: HTML (.html), Markdown for GitHub (.md) or JSON (.json). May be repeated.",
            valueName: "file"),
        completion: .file(extensions: ["html", "md", "json"]))
    var matrix: [String] = []

    /// The options for reports that are written to one file, each with the path given by the user; a path is `nil` if
    /// its option was not given.
    private var reports: [(option: String, path: String?, recorder: (String, ReportOptions) -> any Recorder)] {
        [
            ("--junit", junit, { JUnitRecorder(options: $1) }), ("--tap", tap, { TAPRecorder(options: $1) }),
            ("--json", json, { JSONRecorder(options: $1) }),
            ("--html", html, { HTMLRecorder(path: $0, options: $1) }),
        ]
    }

    /// The options whose output goes to standard output.
    var ownOutput: [String] { reports.filter { $0.path == "-" }.map(\.option) }

    /// The files that the given options write.
    var targets: [ReportTarget] {
        reports.compactMap { ReportTarget($0.option, $0.path) } + matrix.compactMap { ReportTarget("--matrix", $0) }
    }

    /// The console for the human-readable report: standard error if the output of another option goes to standard
    /// output.
    var console: Console { ownOutput.isEmpty ? .standardOutput : .standardError }

    func validate() throws {
        try requireOneOutput(ownOutput)
        for target in targets { try target.validate() }
        if matrix.contains("-") {
            throw ValidationError(
                "--matrix -: the extension selects the format and must be .html, .md or .json; name a file")
        }
        for path in matrix where MatrixRecorder.Format(path: path) == nil {
            throw ValidationError(
                "--matrix \(path): the extension selects the format and must be .html, .md or .json")
        }
    }

    /// Checks that the output of at most one option goes to standard output.
    ///
    /// - Parameter options: the options whose output goes to standard output.
    func requireOneOutput(_ options: [String]) throws {
        if options.count > 1 {
            throw ValidationError(
                "\(options.map { "\($0) -" }.joined(separator: " and ")) are mutually exclusive: only one report can go to standard output"
            )
        }
        if let option = options.first, github {
            throw ValidationError("--github and \(option) - are mutually exclusive: annotations go to standard output")
        }
    }

    /// Attaches the recorders for the requested reports.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if a file can't be written.
    func attach(to set: inout RecorderSet, planned: [PlannedCase], options: ReportOptions) throws {
        if github {
            let workspace = getenv("GITHUB_WORKSPACE").map { String(cString: $0) }
            set.attach(GitHubRecorder(options: options, workspace: workspace)) {
                Console.standardOutput.writeCommands($0)
            }
        }
        do throws(ReportFileError) {
            for report in reports {
                guard let path = report.path else { continue }
                try Self.attach(report.recorder(path, options), to: path, in: &set)
            }
            for path in matrix {
                guard let format = MatrixRecorder.Format(path: path) else { continue }
                try Self.attach(
                    MatrixRecorder(format, path: path, planned: planned, options: options), to: path, in: &set)
            }
        } catch {
            throw Failure.invalidUsage("\(error); choose another path or omit the option")
        }
    }

    static func attach(
        _ recorder: any Recorder, to path: String, keepsOld: Bool = false, in set: inout RecorderSet
    ) throws(ReportFileError) {
        if path == "-" {
            set.attach(recorder) { Console.standardOutput.write($0) }
        } else {
            set.attach(
                recorder, to: try ReportFile(path, keepsOld: keepsOld, isReadByRunner: Console.isReadByRunner))
        }
    }
}

extension PlannedCase {
    /// Creates the description of a job for reports.
    ///
    /// - Parameter rerun: the command line that runs the case again.
    init(_ job: RunJob, rerun: String) {
        let scenario = job.plan.scenario
        self.init(
            id: job.id, path: job.path, subject: scenario.hasSubject ? job.subject?.name : nil,
            title: scenario.title.value, about: scenario.about, because: scenario.because, level: scenario.level,
            tags: scenario.tags, rerun: rerun)
    }
}
