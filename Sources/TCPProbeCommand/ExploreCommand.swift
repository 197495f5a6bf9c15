import ArgumentParser
import ProbeBase
import ProbeEvents
import ProbeExplore

/// The command `tcpprobe explore`, which searches for variations under which a scenario does not pass.
struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Find bugs by sending a scenario's data in different pieces, and shrink the failures.",
        discussion: """
            TCP provides a stream of bytes. Where the stream is cut, when its pieces arrive and how fast the peer reads must not change
            what a program does, so a variation of a scenario that preserves the stream must have the same verdict. A variation that
            fails is shrunk to the smallest scenario that fails, which is written as NAME.min.scn.

            EXAMPLES:
              tcpprobe explore Scenarios/redis-pipeline.scn
              tcpprobe explore server.scn --for 10m -j 4 --out found
              tcpprobe explore server.scn --seed 7
              tcpprobe explore --to 127.0.0.1:6379 -- redis-cli -p {port} ping
              tcpprobe explore --server 'redis-server --port {port}' -- redis-cli -p {port} ping
              tcpprobe explore server.scn --good 'python3 fixed.py ${P.port}'
              tcpprobe explore Scenarios --corpus corpus --until-fail --for 10m --shard 1/4

            EXIT CODES:
              0         nothing was found
              1         something was found
              2         invalid usage, or the unchanged scenario does not pass, or does not pass with the program given by --good
              3         the unchanged scenario passes only sometimes, has nothing that can be varied, or fails with a
                        variation, but too rarely, or too late in the given time, to be confirmed and shrunk
              129, 130, 143  interrupted
            """)

    @OptionGroup var options: ExploreOptions

    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: ArgumentHelp(
            "Time for each case, such as 500ms, 60s or 10m. It includes the time for shrinking a failure.",
            valueName: "time"))
    var duration = "60s"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seed of the search: the same number gives the same variations in the same order.", valueName: "n"))
    var seed = 0

    @Option(
        help: ArgumentHelp(
            "Explore the command after `--`, which connects to this server through a proxy; its exit status is the verdict. {port} in the command is the proxy's port.",
            valueName: "host:port"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "Like --to, but start the server with this command, in which {port} is the port on which it must listen.",
            valueName: "command"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Folder that keeps the variations that failed; they are tried first in the next search.", valueName: "dir"),
        completion: .directory)
    var corpus: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Try one shard of the variations: 3/8 is the third of eight. The shards try different variations.",
            valueName: "i/n"))
    var shard: String?

    @Flag(
        name: .customLong("until-fail"),
        help: ArgumentHelp(
            "If all variations have passed, begin again with the next seed, until one fails or the time is over; after a failure, skip the remaining cases."
        ))
    var repeats = false

    @Flag(
        help: ArgumentHelp(
            "Try faults instead of variations: at each place, the endpoint resets, closes or half-closes its connection, or falls silent. The program must not be killed by a signal, must not spin or leak, and must serve the next client."
        ))
    var faults = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Time that the program may take for each step. By default, a step of a variation may take 20 times as long as without variations, and at least 150 ms; a step of the next client after a fault may take 5 s.",
            valueName: "time"))
    var patience: String?

    func validate() throws {
        if let patience, QuantityArgument.time(patience) == nil {
            throw ValidationError("--patience \(patience): expected a time above 0, such as 500ms or 5s")
        }
        if to != nil, server != nil {
            throw ValidationError("--to and --server are mutually exclusive: give the server's address or its command")
        }
        if let server, !server.contains("{port}") {
            throw ValidationError(
                "--server \(server): the command does not contain {port}, the port on which the server must listen")
        }
        if to != nil || server != nil, faults {
            throw ValidationError(
                "--faults requires a scenario: without one, nothing specifies the correct behavior after a fault")
        }
        if faults, corpus != nil || shard != nil || repeats {
            let option = corpus != nil ? "--corpus" : shard != nil ? "--shard" : "--until-fail"
            throw ValidationError("--faults and \(option) are mutually exclusive: all faults are tried once, in order")
        }
        if let corpus, corpus.isEmpty { throw ValidationError("--corpus: the folder's name is empty") }
        do throws(Share.Problem) {
            _ = try share
        } catch {
            throw ValidationError("--shard \(shard ?? ""): \(error)")
        }
        if time == nil {
            throw ValidationError("--for \(duration): expected a time above 0, such as 500ms, 60s or 10m")
        }
    }

    private var time: Duration? { QuantityArgument.time(duration) }

    private var share: Share? {
        get throws(Share.Problem) {
            guard let shard else { return nil }
            return try Share(shard)
        }
    }

    /// The search options, as words of the command line that explores a case again.
    private var words: [String] {
        var words = to.map { ["--to", $0] } ?? server.map { ["--server", $0] } ?? []
        if duration != "60s" { words += ["--for", duration] }
        if seed != 0 { words += ["--seed", "\(seed)"] }
        if faults { words.append("--faults") }
        if let patience { words += ["--patience", patience] }
        if let corpus { words += ["--corpus", corpus] }
        if let shard { words += ["--shard", shard] }
        if repeats { words.append("--until-fail") }
        return words
    }

    private var settings: ExploreSettings {
        var settings = ExploreSettings(
            duration: time ?? .seconds(60), seed: seed, hasFaults: faults,
            patience: patience.flatMap { QuantityArgument.time($0) })
        // `validate` has rejected an invalid share.
        settings.share = try? share
        settings.repeats = repeats
        return settings
    }

    func run() throws {
        let explored =
            to.map { CommandScenario.Server.address($0) } ?? server.map { .command(GoodOptions.fromHere($0)) }
        let jobs = try explored.map { [try options.commandJob($0)] } ?? options.chosenJobs()
        try ExploreRun(
            options, jobs, kind: .explore(settings, words: words), corpus: corpus.map { VariationCorpus($0) }
        ).run()
    }
}

/// The command `tcpprobe shrink`, which reduces a failing scenario to a smaller scenario that still fails.
struct ShrinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shrink",
        abstract: "Reduce a failing scenario to the smallest one that still fails in the same way.",
        discussion: """
            First removes the cuts and pauses of sends, then connections, steps and parts of the sent data. The failing step and its
            expected and actual values stay the same. Anything before that step is removed only if a correct program passes without it;
            specify such a program with --good. The result is written as NAME.min.scn, with a sentence that describes what makes it fail.

            EXAMPLES:
              tcpprobe shrink failing.scn
              tcpprobe shrink failing.scn --filter 'failing[n=3]' --out found
              tcpprobe shrink failing.scn --good 'python3 fixed.py ${P.port}'
              tcpprobe shrink failing.scn --good --set program=fixed.py

            EXIT CODES:
              0         the smallest scenario was written
              2         invalid usage, or the scenario does not fail, or it fails with the program given by --good
              3         the scenario fails in fewer than one in five runs, too rarely to be shrunk, or the written
                        scenario does not fail
              129, 130, 143  interrupted
            """)

    @OptionGroup var options: ExploreOptions

    func run() throws {
        try ExploreRun(options, options.chosenJobs(), kind: .shrink).run()
    }
}
