import ArgumentParser
import Glibc
import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge the results of all shards, and write the reports of the whole run.",
        discussion: """
            Results files are written by `tcpprobe run --results`, one for each shard. If a shard is missing, occurs twice or belongs to
            another run, an error names the shard; a later attempt of a shard replaces an earlier one. The exit code is that of the whole
            run.

            EXAMPLES:
              tcpprobe run Scenarios --shard 1/2 --results results/1.json
              tcpprobe run Scenarios --shard 2/2 --results results/2.json
              tcpprobe merge results/*.json --junit junit.xml --matrix matrix.html
              tcpprobe merge results/*.json --results all.json
            """)

    @Argument(
        help: ArgumentHelp("Results files of all shards.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var paths: [String]

    @OptionGroup var files: ReportFiles

    @Option(
        help: ArgumentHelp("Write the results of the whole run, for use with --timings.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var results: String?

    @OptionGroup var emptiness: EmptyRunOptions

    @Flag(
        name: [.customShort("q"), .long],
        help: "Show only the summary and the cases that fail the run.")
    var quiet = false

    /// The options whose output goes to standard output.
    private var ownOutput: [String] { files.ownOutput + (results == "-" ? ["--results"] : []) }

    private var targets: [ReportTarget] { files.targets + [ReportTarget("--results", results)].compactMap(\.self) }

    func validate() throws {
        try files.requireOneOutput(ownOutput)
        for target in targets { try target.validate() }
    }

    func run() throws {
        // CI commands must be disabled before the first output that contains text from a file.
        if files.github { Console.standardOutput.stopCommands() }
        try FilesRead(paths, are: "one of the files to merge").requireApart(targets)
        var read: [ResultsFile] = []
        for path in paths { read.append(try ResultsFile.read(path, for: "")) }
        let merged: ResultsMerge
        do throws(ResultsProblem) {
            merged = try ResultsMerge(read)
        } catch {
            throw Failure.invalidUsage(error.description)
        }
        read = []
        let console: Console = ownOutput.isEmpty ? .standardOutput : .standardError
        console.write("\(merged.title)\n" + merged.remarks.map { "note: \($0)\n" }.joined())
        var recorders = try recorders(of: merged, on: console)
        do throws(ResultsProblem) {
            try merged.replay { recorders.record($0, at: $1) }
        } catch {
            throw Failure.machine(error.description)
        }
        throw ExitCode(recorders.summary?.exitCode ?? 3)
    }

    private func recorders(of merged: ResultsMerge, on console: Console) throws -> RecorderSet {
        var rules = merged.options.rules
        rules.allowsEmpty = emptiness.allowsEmpty
        var set = RecorderSet(planned: merged.planned, rules: rules, notes: merged.notes)
        var style = ConsoleRecorder.Style(usesColor: console.usesColor, width: console.width)
        style.isQuiet = quiet
        set.attach(ConsoleRecorder(style: style, options: merged.options, planned: merged.planned)) {
            console.write($0)
        }
        try files.attach(to: &set, planned: merged.planned, options: merged.options)
        guard let results else { return set }
        do throws(ReportFileError) {
            let recorder = ResultsRecorder(head: merged.head, planned: merged.planned, rules: merged.options.rules)
            try ReportFiles.attach(recorder, to: results, in: &set)
        } catch {
            throw Failure.invalidUsage("\(error); choose another path or omit the option")
        }
        return set
    }
}

extension ResultsFile {
    /// The maximum size of a results file, in bytes. Files of this size can contain more than a million cases.
    private static let largest = 4 << 30
    /// The maximum number of bytes to read from a pipe or a device. A pipe or a device may never end.
    private static let largestStream = 1 << 30

    /// Reads a results file that is named on the command line.
    ///
    /// - Parameter prefix: the prefix of error messages.
    /// - Throws: the exit code for invalid usage, after printing the message.
    static func read(_ path: String, for prefix: String) throws -> ResultsFile {
        let isOrdinary = FileStatus(at: path)?.isRegular ?? true
        let limit = isOrdinary ? largest : largestStream
        let bytes: [UInt8]
        do throws(SystemError) {
            // If the beginning shows that the file does not contain results, the remaining bytes aren't read.
            bytes = try InputFile.contents(of: path, limit: limit + 1) { start in
                (start.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } ?? UInt8(ascii: "{")) == UInt8(ascii: "{")
            }
        } catch {
            let hint = error.code == EISDIR ? "; name the files in it, as in \(Escaped.text(path))/*.json" : ""
            throw Failure.invalidUsage("\(prefix)\(Escaped.text(path)) can't be read: \(error.reason)\(hint)")
        }
        if bytes.count > limit {
            let size = isOrdinary ? "is larger than 4 GiB" : "is not a regular file and contains more than 1 GiB"
            throw Failure.invalidUsage("\(prefix)\(Escaped.text(path)) \(size), which is too large for results")
        }
        do throws(ResultsProblem) {
            return try ResultsFile(path: path, bytes: bytes)
        } catch {
            throw Failure.invalidUsage("\(prefix)\(error)")
        }
    }
}
