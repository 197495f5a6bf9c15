import ArgumentParser
import ProbeBase
import ProbeExplore

/// `tcpprobe explore`: searches for variations of a scenario that do not pass.
struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Find bugs: send what a scenario sends in other pieces, and shrink what fails.",
        discussion: """
            TCP promises a stream of bytes. Where it is cut, when its pieces come and how fast the peer reads may not change what a
            program does. So each variation of a scenario that keeps its stream has to keep its verdict. What does not is shrunk
            to the smallest scenario that fails, which is written as NAME.min.scn.

            EXAMPLES:
              tcpprobe explore Scenarios/redis-pipeline.scn
              tcpprobe explore server.scn --for 10m -j 4 --out found
              tcpprobe explore server.scn --seed 7
              tcpprobe explore --to 127.0.0.1:6379 -- redis-cli -p {port} ping
              tcpprobe explore server.scn --good 'python3 fixed.py ${P.port}'

            EXIT CODES:
              0         nothing was found
              1         something was found
              2         invalid usage, or the scenario (or the program of --good) does not pass as it is
              3         the scenario passes, but not each time; or it has nothing that could be varied;
                        or it fails with a variation, but too rarely to be shrunk
              129, 130, 143  interrupted
            """)

    @OptionGroup var options: ExploreOptions

    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: ArgumentHelp("How long variations of each case are tried: 500ms, 60s, 10m.", valueName: "time"))
    var duration = "60s"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same number gives the same variations in the same order.", valueName: "n"))
    var seed = 0

    @Option(
        help: ArgumentHelp(
            "Where the command behind `--` is to connect to, through a proxy: its exit status is the verdict. {port} is the proxy's port.",
            valueName: "host:port"))
    var to: String?

    @Flag(
        help: ArgumentHelp(
            "Try faults instead: at each place the endpoint resets, closes, half-closes or falls silent. The program must not end by a signal, not spin, not leak, and serve the next client."
        ))
    var faults = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --faults: how long the program may take for a step of the next client.", valueName: "time"))
    var patience = "5s"

    func validate() throws {
        if QuantityArgument.time(patience) == nil {
            throw ValidationError("--patience \(patience): it must be a time above 0, such as 500ms or 5s")
        }
        if to != nil, faults {
            throw ValidationError(
                "--faults needs a scenario: behind --to there is none that could say what is right afterwards")
        }
        if time == nil {
            throw ValidationError("--for \(duration): it must be a time above 0, such as 500ms, 60s or 10m")
        }
    }

    private var time: Duration? { QuantityArgument.time(duration) }

    /// The options of the search, for the command that explores a case again.
    private var words: [String] {
        var words = to.map { ["--to", $0] } ?? []
        if duration != "60s" { words += ["--for", duration] }
        if seed != 0 { words += ["--seed", "\(seed)"] }
        if faults { words.append("--faults") }
        if patience != "5s" { words += ["--patience", patience] }
        return words
    }

    private var settings: ExploreSettings {
        ExploreSettings(
            duration: time ?? .seconds(60), seed: seed, patience: faults ? QuantityArgument.time(patience) : nil)
    }

    func run() throws {
        let jobs = try to.map { [try options.commandJob(to: $0)] } ?? options.chosenJobs()
        try ExploreRun(options, jobs, kind: .explore(settings, words: words)).run()
    }
}

/// `tcpprobe shrink`: makes a failing scenario smaller.
struct ShrinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shrink",
        abstract: "Make a scenario that fails as small as it can be and still fail in the same way.",
        discussion: """
            Cuts and pauses of its sends go first, then connections, steps and parts of what is sent. The step that fails, the
            expected and the actual value stay the same. What precedes that step is left out only if a correct program passes
            without it: name one by --good. The result is written as NAME.min.scn, with a sentence that says what makes it fail.

            EXAMPLES:
              tcpprobe shrink failing.scn
              tcpprobe shrink failing.scn --filter 'failing[n=3]' --out found
              tcpprobe shrink failing.scn --good 'python3 fixed.py ${P.port}'
              tcpprobe shrink failing.scn --good --set program=fixed.py

            EXIT CODES:
              0         the smallest scenario was written
              2         invalid usage, or the scenario does not fail, or it fails with the program of --good
              3         it fails in fewer than one in five runs: too rare to be shrunk
              129, 130, 143  interrupted
            """)

    @OptionGroup var options: ExploreOptions

    func run() throws {
        try ExploreRun(options, options.chosenJobs(), kind: .shrink).run()
    }
}
