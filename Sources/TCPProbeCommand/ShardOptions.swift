import ArgumentParser
import Glibc
import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The options of `run` that determine, together with the variables of a CI engine, which cases this run executes.
struct ShardOptions: ParsableArguments {
    // A value that begins with a minus sign must be rejected with a reason, rather than be parsed as an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Run one shard of the cases: 3/8 is the third of eight. Default: the shard in the environment variables of the CI engine, if any (docs/reports.md lists them).",
            valueName: "i/n"))
    var shard: String?

    @Flag(name: .customLong("no-shard"), help: "Run all cases, ignoring the engine's environment variables.")
    var ignoresEngine = false

    @Option(
        help: ArgumentHelp(
            "Use the results of an earlier run (--results) to divide the cases into shards that take the same time. All shards must be given the same files. May be repeated.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var timings: [String] = []

    func validate() throws {
        guard let shard else { return }
        if ignoresEngine { throw ValidationError("--shard and --no-shard are mutually exclusive") }
        do throws(Share.Problem) {
            _ = try Share(shard)
        } catch {
            throw ValidationError("--shard \(shard): \(error)")
        }
    }

    /// This run's share of the cases, and the source of that setting.
    struct Choice {
        var share: Share
        /// The source of the setting: `--shard`, or the names of the environment variables.
        var origin: String
    }

    /// Returns this run's share of the cases.
    ///
    /// - Parameter dividesCrowds: whether the engine's variables select members of crowds instead of cases.
    /// - Returns: the share; `nil` if the cases are not divided.
    /// - Throws: the exit code for invalid usage, after printing the message.
    func choice(dividesCrowds: Bool = false) throws -> Choice? {
        if ignoresEngine { return nil }
        if let path = ShardEnvironment.statusFile(Self.variable) { try touch(path) }
        if dividesCrowds { return nil }
        if let shard { return Choice(share: try Share(shard), origin: "--shard") }
        do throws(ShardProblem) {
            return try ShardEnvironment.read(Self.variable).map { Choice(share: $0.share, origin: $0.variables) }
        } catch {
            throw Failure.invalidUsage(error.description)
        }
    }

    /// Returns a remark about a questionable combination of options; `nil` if there is none.
    ///
    /// - Parameter writesResults: whether `--results` is given, which `merge` needs.
    func remark(_ choice: Choice?, writesResults: Bool) -> String? {
        guard let choice else {
            return timings.isEmpty
                ? nil
                : "--timings affects only shards, but this run is not a shard: all cases "
                    + "are run"
        }
        guard choice.origin != "--shard", !writesResults else { return nil }
        return
            "this run is only shard \(choice.share.index) of \(choice.share.total), set by \(choice.origin); merge shards with `--results FILE` and `tcpprobe merge`, or run all cases with `--no-shard`"
    }

    /// Returns the value of an environment variable; `nil` if it is not set.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Touches a status file. If a test does not touch the file, Bazel assumes that the test does not support sharding.
    private func touch(_ path: String) throws {
        let raw = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o666)
        guard raw >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure.machine(
                "TEST_SHARD_STATUS_FILE: \(Escaped.text(path)) can't be written to: \(reason); `--no-shard` ignores it"
            )
        }
        futimens(raw, nil)
        close(raw)
    }
}

/// The cases of a run, which may be divided into shards.
struct RunDivision {
    /// The cases that this run executes, in the order of the plan.
    private(set) var jobs: [RunJob] = []
    /// The position in the whole plan, starting at 1, of each case that this run executes.
    private(set) var places: [Int] = []
    /// All cases of the plan.
    let whole: [RunJob]
    let share: Share
    /// The first line of the report; `nil` if the run is not divided.
    private(set) var firstLine: String?
    /// The description of the division in the results file; see ``ResultsHead/division``.
    private(set) var division = ResultsHead.whole

    /// Divides the cases of a plan.
    ///
    /// - Parameters:
    ///   - whole: all cases of the plan, each with its subject. The subjects must have been introduced.
    ///   - times: the durations of the cases in earlier runs; `nil` if they are not known.
    init(_ whole: [RunJob], _ choice: ShardOptions.Choice?, times: CaseTimes? = nil) {
        self.whole = whole
        guard let choice else {
            (jobs, places) = (whole, Array(1...max(1, whole.count)))
            share = .whole
            return
        }
        share = choice.share
        let keys = whole.map(\.key)
        let byTime = times.flatMap { ShardAssignment.byTime(keys, times: $0, total: choice.share.total) }
        let shards = byTime ?? ShardAssignment.byHash(keys, total: choice.share.total)
        division = byTime.map { "times \(PlanDigest.text(of: $0))" } ?? "hash"
        for (index, shard) in shards.enumerated() where shard == share.index {
            jobs.append(whole[index])
            places.append(index + 1)
        }
        firstLine =
            "shard \(share.index) of \(share.total), set by \(choice.origin): "
            + "\(jobs.count) of \(ByteText.count(whole.count, "case"))"
            + (byTime != nil ? ", divided by duration" : "")
            + (times != nil && byTime == nil ? " (--timings contains none of these cases)" : "")
            + (jobs.isEmpty ? "; nothing to run" : "")
    }
}

extension RunJob {
    var key: CaseKey { CaseKey(id: id, subject: plan.scenario.hasSubject ? subject?.name : nil) }
}

/// Holds back human-readable text until the first line of the report is known.
final class HeldNotes {
    private let console: Console
    /// The text that has been held back; `nil` if text is no longer held back.
    private var held: String?

    init(_ console: Console, waits: Bool) {
        self.console = console
        held = waits ? "" : nil
    }

    func write(_ text: String) {
        if held == nil { console.write(text) } else { held? += text }
    }

    /// Writes the first line, if the report has one, and the text that has been held back. Later text is written
    /// immediately.
    func release(after first: String? = nil) {
        console.write((first.map { $0 + "\n" } ?? "") + (held ?? ""))
        held = nil
    }
}
