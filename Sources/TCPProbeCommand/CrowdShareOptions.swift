import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeEngine
import ProbeEvents

/// The options `--crowd-share` and `--start-at`, with which several runs, usually on several machines, divide the
/// members of crowds among themselves.
struct CrowdShareOptions: ParsableArguments {
    @Option(
        name: .customLong("crowd-share"), parsing: .unconditional,
        help: ArgumentHelp(
            "Start only the given share of the members of each crowd; every case runs. `auto` reads the share from the environment variables of the engine that started the run (docs/reports.md lists them).",
            valueName: "i/n"))
    var text: String?

    @Option(
        name: .customLong("start-at"), parsing: .unconditional,
        help: ArgumentHelp(
            "Start the first case at the given time, in seconds since 1970, so that runs on several machines start together.",
            valueName: "time"))
    var startAt: String?

    /// The maximum time to wait for `--start-at`, in seconds. A later start is probably a mistake, such as a time in
    /// milliseconds.
    private static let longestWait = 86_400.0

    func validate() throws {
        if let text, text != "auto" { _ = try Self.share(text) }
        if let startAt, Self.seconds(startAt) == nil {
            throw ValidationError(
                "--start-at \(startAt): expected a time in seconds since 1970, as printed by `date +%s`")
        }
    }

    private static func share(_ text: String) throws -> Share {
        do throws(Share.Problem) { return try Share(text) } catch {
            throw ValidationError("--crowd-share \(text): \(error)")
        }
    }

    /// Returns this run's share of the crowds, and the source of that setting; `nil` if crowds are not divided.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if the engine's variables do not specify
    ///   a valid share.
    func choice() throws -> ShardOptions.Choice? {
        guard let text else { return nil }
        guard text == "auto" else { return ShardOptions.Choice(share: try Self.share(text), origin: "--crowd-share") }
        do throws(ShardProblem) {
            if let found = try ShardEnvironment.read(ShardOptions.variable, takesWhole: true) {
                return ShardOptions.Choice(share: found.share, origin: found.variables)
            }
        } catch {
            throw Failure.invalidUsage("--crowd-share auto: \(error.description)")
        }
        throw Failure.invalidUsage(
            "--crowd-share auto: no engine's environment variables specify the share; specify it as in --crowd-share 3/8"
        )
    }

    /// Returns the first line of the report, which states the share.
    static func firstLine(_ choice: ShardOptions.Choice) -> String {
        "crowd share \(choice.share.index) of \(choice.share.total), set by \(choice.origin): every case runs with this share of the "
            + "members of its crowds\n"
    }

    /// Checks that every crowd has enough members to be divided.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if a crowd has fewer members than there
    ///   are shares.
    func check(_ jobs: [RunJob]) throws {
        guard let problem = try choice().flatMap({ CrowdShare($0.share).problem(in: jobs) }) else { return }
        throw Failure.invalidUsage("--crowd-share: \(Escaped.text(problem.utf8))")
    }

    // MARK: The start time

    /// Parses a number in decimal digits, with an optional fraction.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 18 && Share.number($0) != nil })
        else { return nil }
        return Double(text)
    }

    private static var now: Double { Double(probe_realtime_ns()) / 1e9 }

    /// Waits until the time given by `--start-at`, if any, or until a signal arrives.
    ///
    /// - Parameter interrupts: a descriptor that becomes readable when a signal arrives.
    /// - Throws: the exit code for invalid usage, after printing the message, if the time is in the past or too far in
    ///   the future.
    func waitForMoment(orUntilReadable interrupts: Int32) throws {
        guard let startAt, let moment = Self.seconds(startAt) else { return }
        let rest = moment - Self.now
        if rest < 0 {
            throw Failure.invalidUsage(
                "--start-at \(startAt) was \(DurationText.fixed(-rest, digits: 1)) s ago, so this run can't start together with the others; "
                    + "give all runs a later time")
        }
        if rest > Self.longestWait {
            throw Failure.invalidUsage(
                "--start-at \(startAt) is more than a day ahead: expected a time in seconds since 1970, as printed by `date +%s`"
            )
        }
        while true {
            let rest = moment - Self.now
            if rest <= 0 { return }
            var entry = pollfd(fd: interrupts, events: Int16(POLLIN), revents: 0)
            // Each wait is short, because the system clock may be set in the meantime.
            if poll(&entry, 1, Int32(min(rest, 0.2) * 1000)) > 0 { return }
            if rest < 0.001 { usleep(UInt32(rest * 1e6)) }
        }
    }
}
