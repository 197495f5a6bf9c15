import ProbeBase
import ProbeScenario
import ProbeSystem

/// A `process`: its ports, and the program while it is running.
final class ProcessActor {
    let name: String
    let command: ProcessCommand
    /// The address of its ports, for actors that connect to it.
    var host = SocketAddress.loopback(port: 0)
    /// The program's network; `nil` for the run's network.
    var network: NetworkNamespace?
    var ports: [UInt16] = []
    var child: ChildProcess?
    /// Measures what the program uses.
    var meter: ResourceMeter?
    /// Programs of earlier starts. Processes that they left running belong to the case until its end.
    var earlier: [ChildProcess] = []
    /// When each start began (wall clock, in nanoseconds), and when the program ended for all but the last start. These
    /// times determine which start a connection belongs to.
    var lives: [(began: UInt64, ended: MonotonicTime?)] = []
    /// The program's working directory; removed with the case.
    var folder: String?
    /// The position in the output after the last `expect output`.
    var output = OutputCursor()
    /// A line of the output log that an `expect output` has consumed, and the step as it is named in a report.
    struct Consumed {
        var line: Int
        var step: String
    }

    /// The most recently consumed lines of the present start.
    var consumed: [Consumed] = []
    /// Searches lines before they are dropped from the output log.
    var watch: OutputWatch?
    /// Whether `P stop` is in progress or done, so that the exit is expected.
    var isStopping = false
    /// Whether the exit is in the timeline.
    var exitIsReported = false
    /// Whether a step has expected the exit.
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
