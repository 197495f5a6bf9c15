import ProbeBase
import ArgumentParser
import CShims
import Glibc
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The reports that a run writes besides the console's, and the expectations that it compares with.
struct ReportArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write a JUnit report. For each report, - is standard output; the text for people then goes to standard error.",
            valueName: "file"), completion: .file())
    var junit: String?

    @Option(help: ArgumentHelp("Write a TAP 14 report.", valueName: "file"), completion: .file())
    var tap: String?

    @Option(
        help: ArgumentHelp("Write events, one JSON object a line (docs/events.schema.json).", valueName: "file"),
        completion: .file())
    var json: String?

    @Flag(help: "Print annotations for GitHub Actions as well.")
    var github = false

    @Option(
        help: ArgumentHelp(
            "Write the results as a table of cases and subjects: a page (.html), a text for GitHub (.md) or data (.json). May be given more than once.",
            valueName: "file"),
        completion: .file(extensions: ["html", "md", "json"]))
    var matrix: [String] = []

    @Option(
        help: ArgumentHelp(
            "What is known not to pass, a line each: subject, case, verdict, # why. It does not fail the run. May be given more than once.",
            valueName: "file"),
        completion: .file())
    var expect: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write what did not pass as expectations for --expect, sorted; comments that are there are kept.",
            valueName: "file"),
        completion: .file())
    var writeExpectations: String?

    /// The options that write to standard output.
    private var ownOutput: [String] {
        [("--junit", junit), ("--tap", tap), ("--json", json), ("--write-expectations", writeExpectations)]
            .filter { $0.1 == "-" }.map(\.0)
    }

    /// Where the report for people goes: standard error if another one goes to standard output.
    var console: Console { ownOutput.isEmpty ? .standardOutput : .standardError }

    func validate() throws {
        if ownOutput.count > 1 {
            throw ValidationError(
                "\(ownOutput.map { "\($0) -" }.joined(separator: " and ")) exclude each other: standard output takes one report"
            )
        }
        if let option = ownOutput.first, github {
            throw ValidationError("--github and \(option) - exclude each other: annotations go to standard output")
        }
        if matrix.contains("-") {
            throw ValidationError(
                "--matrix -: the name's ending says what is written, and must be .html, .md or .json: give a file")
        }
        for path in matrix where MatrixRecorder.Format(path: path) == nil {
            throw ValidationError(
                "--matrix \(path): the name's ending says what is written, and must be .html, .md or .json")
        }
    }

    @Flag(
        name: [.customShort("q"), .long],
        help: "Show cases that fail the run and the summary only.")
    var quiet = false

    /// The expectations of a run.
    struct Expected {
        /// The files of `--expect`, in order.
        var files: [ExpectationsFile] = []
        /// The file that `--write-expectations` will replace.
        var old: ExpectationsFile?

        /// If two files have a line for the same result, the later file counts.
        var expectations: Expectations { Expectations(files.flatMap { $0.lines.map(\.expected) }) }
    }

    /// Reads all expectations.
    ///
    /// - Throws: the exit code of wrong use, after the messages were printed.
    func readExpectations() throws -> Expected {
        var expected = Expected()
        for path in expect {
            guard path == "-" || SmallFile.exists(path) else {
                throw Failure.wrongUse(
                    "--expect: there is no file \(Escaped.text(path)); `--write-expectations` makes one")
            }
            expected.files.append(try readFile(path, "--expect"))
        }
        if let path = writeExpectations, path != "-", SmallFile.exists(path) {
            // A pipe has no old expectations.
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                expected.old =
                    try expected.files.first { $0.source.path == path } ?? readFile(path, "--write-expectations")
            }
        }
        return expected
    }

    private func readFile(_ path: String, _ option: String) throws -> ExpectationsFile {
        let limit = 64 << 20
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes =
                path == "-"
                ? try InputFile.standardInput(limit: limit + 1) : try InputFile.contents(of: path, limit: limit + 1)
        } catch {
            throw Failure.wrongUse("\(option): \(Escaped.text(path)) can't be read: \(error.reason)")
        }
        if bytes.count > limit {
            throw Failure.wrongUse("\(option): \(Escaped.text(path)) is larger than 64 MiB: no expectations")
        }
        let file = ExpectationsFile(path: path, bytes: bytes)
        if !file.problems.isEmpty {
            Console.standardError.write(diagnostics: file.diagnostics)
            throw ExitCode(2)
        }
        return file
    }

    /// All recorders of the run.
    ///
    /// - Parameters:
    /// - filteredAway: ids of cases that `--filter` or `--tag` excluded.
    ///   - rerun: returns the command that runs one case again.
    /// - Throws: the exit code of wrong use, after the message was printed, if a file can't be written.
    func recorders(
        _ jobs: [RunJob], filteredAway: Set<String>, expected: Expected, options: ReportOptions,
        rerun: (RunJob) -> String
    ) throws -> RecorderSet {
        let planned = jobs.map { job in
            let scenario = job.plan.scenario
            return PlannedCase(
                id: job.id, path: job.path, subject: scenario.hasSubject ? job.subject?.name : nil,
                title: scenario.title.value, about: scenario.about, because: scenario.because, level: scenario.level,
                tags: scenario.tags, rerun: rerun(job))
        }
        let notes = StaleExpectations.notes(expected.files, planned: planned, filteredAway: filteredAway)
        var set = RecorderSet(planned: planned, rules: options.rules, notes: notes)
        var style = ConsoleRecorder.Style(
            usesColor: console.usesColor, progressWidth: console.progressWidth, width: console.width)
        style.isQuiet = quiet
        set.attach(ConsoleRecorder(style: style, options: options, planned: planned)) { [console] in console.write($0) }
        if github {
            let workspace = getenv("GITHUB_WORKSPACE").map { String(cString: $0) }
            set.attach(GitHubRecorder(options: options, workspace: workspace)) {
                Console.standardOutput.writeCommands($0)
            }
        }
        do throws(ReportFileError) {
            if let junit { try attach(JUnitRecorder(options: options), to: junit, in: &set) }
            if let tap { try attach(TAPRecorder(options: options), to: tap, in: &set) }
            if let json { try attach(JSONRecorder(options: options), to: json, in: &set) }
            for path in matrix {
                guard let format = MatrixRecorder.Format(path: path) else { continue }
                try attach(
                    MatrixRecorder(format, path: path, planned: planned, options: options), to: path, in: &set)
            }
            if let path = writeExpectations {
                let recorder = ExpectationsRecorder(
                    planned: planned, options: options, old: expected.old, filteredAway: filteredAway)
                try attach(recorder, to: path, keepsOld: true, in: &set)
            }
        } catch {
            throw Failure.wrongUse("\(error); another path or none")
        }
        return set
    }

    private func attach(
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
