import ProbeBase
import ProbeScenario
import ProbeSystem

/// A `process`: its ports and, while it is running, its program.
final class ProcessActor {
    let name: String
    let command: ProcessCommand
    /// The address at which other actors connect to the program's ports.
    var host = SocketAddress.loopback(port: 0)
    /// The program's network namespace; `nil` if the program runs in the run's network namespace.
    var network: NetworkNamespace?
    var ports: [UInt16] = []
    var child: ChildProcess?
    /// The meter for the program's resource usage.
    var meter: ResourceMeter?
    /// The programs that were started before the current one. Processes that these programs left running belong to the
    /// case until the case ends.
    var earlier: [ChildProcess] = []
    /// For each start, the time at which it began (wall clock, in nanoseconds) and, except for the last start, the time
    /// at which the program ended. These times determine which start a connection belongs to.
    var lives: [(began: UInt64, ended: MonotonicTime?)] = []
    /// The program's working directory, which is removed at the end of the case.
    var folder: String?
    /// The position in the output after the text consumed by the last `expect output`.
    var output = OutputCursor()
    /// A line of the output log that an `expect output` step has consumed, and the name of that step in reports.
    struct Consumed {
        var line: Int
        var step: String
    }

    /// The most recently consumed output lines of the current start.
    var consumed: [Consumed] = []
    /// The object that searches output lines before they are dropped from the output log.
    var watch: OutputWatch?
    /// Whether `P stop` is in progress or done. If it is, the program's exit is expected.
    var isStopping = false
    /// Whether the program's exit has been added to the timeline.
    var exitIsReported = false
    /// Whether a step has expected the program's exit.
    var exitIsConsumed = false
    /// The number of lines of the output log that are already in the timeline.
    var reportedLines = 0

    /// All programs that this actor has started.
    var children: [ChildProcess] { earlier + (child.map { [$0] } ?? []) }

    init(name: String, command: ProcessCommand) {
        self.name = name
        self.command = command
    }
}
