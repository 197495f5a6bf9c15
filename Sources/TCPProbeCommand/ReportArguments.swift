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

/// The options of `run` for reports that no other command writes, and for the expectations with which results are
/// compared. The options of `ReportFiles` are not nested in this group: a debug build of ArgumentParser checks the
/// options of nested groups four times as often. These checks took a third of the startup time of `tcpprobe run`.
struct ReportArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read results that are known not to pass, one per line: subject, case, verdict, # reason. They don't fail the run. May be repeated.",
            valueName: "file"),
        completion: .file())
    var expect: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write the results that did not pass to a file for --expect, sorted; existing comments are kept.",
            valueName: "file"),
        completion: .file())
    var writeExpectations: String?

    @Option(
        help: ArgumentHelp(
            "Write the results of the run, or of its shard, for `tcpprobe merge` and --timings (docs/results.schema.json).",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var results: String?

    @Flag(
        name: [.customShort("q"), .long],
        help: "Show only the summary and the cases that fail the run.")
    var quiet = false
}

/// The reports of a run.
struct RunReports {
    let files: ReportFiles
    private let arguments: ReportArguments

    init(_ files: ReportFiles, _ arguments: ReportArguments) {
        self.files = files
        self.arguments = arguments
    }

    var expect: [String] { arguments.expect }
    var results: String? { arguments.results }
    private var writeExpectations: String? { arguments.writeExpectations }

    /// Removes the results of an earlier run at the path of `--results`. The results are removed before anything can
    /// fail, because `merge` would otherwise mistake the old results for the results of this run. A file that does not
    /// contain results is kept.
    ///
    /// - Parameter timings: the paths given by `--timings`.
    /// - Throws: the exit code for invalid usage, after printing the message, if the results would replace a file of
    ///   `--timings`.
    func removeEarlierResults(apartFrom timings: [String]) throws {
        guard let results, results != "-" else { return }
        if let target = ReportTarget("--results", results) {
            try FilesRead(timings, are: "a file of --timings").requireApart([target])
        }
        let file = open(results, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        var start = [UInt8](repeating: 0, count: ResultsRecorder.beginning.count)
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            pread(file, &start, start.count, 0) == start.count, start == ResultsRecorder.beginning
        else { return }
        ReportFile.remove(results, openedAs: file)
    }

    /// The options whose output goes to standard output.
    private var ownOutput: [String] {
        files.ownOutput + (writeExpectations == "-" ? ["--write-expectations"] : [])
            + (results == "-" ? ["--results"] : [])
    }

    /// Whether a report needs the timelines of cases that passed. `merge` may write such a report from the results.
    var drawsPassedCases: Bool { files.html != nil || results != nil }

    /// The console for the human-readable report: standard error if the output of another option goes to standard
    /// output.
    var console: Console { ownOutput.isEmpty ? .standardOutput : .standardError }

    /// The target files of all reports, excluding the expectations file.
    private var targets: [ReportTarget] { files.targets + [ReportTarget("--results", results)].compactMap(\.self) }

    private var allTargets: [ReportTarget] {
        targets + [ReportTarget("--write-expectations", writeExpectations)].compactMap(\.self)
    }

    func validate() throws {
        try files.requireOneOutput(ownOutput)
        for target in allTargets { try target.validate() }
    }

    /// Checks that no report would replace a file that the run reads. The check must precede the opening of any report.
    ///
    /// - Parameter read: the files that the run reads, excluding the expectations.
    /// - Throws: the exit code for invalid usage, after printing the message, if a report would replace such a file.
    func requireApart(from read: FilesRead) throws {
        try read.requireApart(allTargets)
        // `--write-expectations` may replace a file of `--expect`, because the lines in such a file are kept.
        try FilesRead(expect, are: "a file of --expect").requireApart(targets)
    }

    /// The expectations of a run.
    struct Expected {
        /// The files of `--expect`, in the order of the command line.
        var files: [ExpectationsFile] = []
        /// The existing file that `--write-expectations` will replace; `nil` if there is none.
        var old: ExpectationsFile?

        /// The combined expectations. If two files contain a line for the same result, the line in the later file
        /// applies.
        var expectations: Expectations { Expectations(files.flatMap { $0.lines.map(\.expected) }) }
    }

    /// Reads all expectations files.
    ///
    /// - Throws: the exit code for invalid usage, after printing the messages.
    func readExpectations() throws -> Expected {
        var expected = Expected()
        for path in expect {
            guard path == "-" || SmallFile.exists(path) else {
                throw Failure.invalidUsage(
                    "--expect: no such file: \(Escaped.text(path)); create one with `--write-expectations`")
            }
            expected.files.append(try readFile(path, "--expect"))
        }
        if let path = writeExpectations, path != "-", SmallFile.exists(path) {
            // Only a regular file can contain earlier expectations; a pipe can't.
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
            throw Failure.invalidUsage("\(option): can't read \(Escaped.text(path)): \(error.reason)")
        }
        if bytes.count > limit {
            throw Failure.invalidUsage(
                "\(option): \(Escaped.text(path)) is larger than 64 MiB, the limit for expectations")
        }
        let file = ExpectationsFile(path: path, bytes: bytes)
        if !file.problems.isEmpty {
            Console.standardError.write(diagnostics: file.diagnostics)
            throw ExitCode(2)
        }
        return file
    }

    /// Creates all recorders for the run.
    ///
    /// - Parameters:
    ///   - division: the cases of the plan, and the shard that this run executes.
    ///   - filteredAway: the ids of the cases that `--filter` or `--tag` excluded.
    ///   - head: the head of the results file; `nil` if `--results` was not given.
    ///   - rerun: returns the command line that runs a single case again.
    /// - Throws: the exit code for invalid usage, after printing the message, if a file can't be written.
    func recorders(
        _ division: RunDivision, filteredAway: Set<String>, expected: Expected, options: ReportOptions,
        head: ResultsHead?, rerun: (RunJob) -> String
    ) throws -> RecorderSet {
        let planned = division.jobs.map { PlannedCase($0, rerun: rerun($0)) }
        // An expectation for a case in another shard is not stale, so the cases of all shards are considered.
        let whole = division.share.isWhole ? planned : division.whole.map { PlannedCase($0, rerun: "") }
        let notes = StaleExpectations.notes(expected.files, planned: whole, filteredAway: filteredAway)
        var set = RecorderSet(planned: planned, rules: options.rules, notes: notes)
        var style = ConsoleRecorder.Style(
            usesColor: console.usesColor, progressWidth: console.progressWidth, width: console.width)
        style.isQuiet = arguments.quiet
        set.attach(ConsoleRecorder(style: style, options: options, planned: planned)) { [console] in console.write($0) }
        try files.attach(to: &set, planned: planned, options: options)
        do throws(ReportFileError) {
            if let results, let head {
                let recorder = ResultsRecorder(head: head, planned: planned, rules: options.rules)
                try ReportFiles.attach(recorder, to: results, in: &set)
            }
            if let path = writeExpectations {
                let own = Set(planned.map(\.key))
                // The lines for cases in other shards are kept.
                let elsewhere = whole.filter { !own.contains($0.key) }.map(\.id)
                let recorder = ExpectationsRecorder(
                    planned: planned, options: options, old: expected.old,
                    filteredAway: filteredAway.union(elsewhere))
                try ReportFiles.attach(recorder, to: path, keepsOld: true, in: &set)
            }
        } catch {
            throw Failure.invalidUsage("\(error); choose another path or omit the option")
        }
        return set
    }
}
