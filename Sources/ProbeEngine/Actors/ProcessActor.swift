import ProbeBase
import ProbeScenario
import ProbeSystem

/// A `process`: its ports, and the program while it runs.
final class ProcessActor {
    let name: String
    let command: ProcessCommand
    /// Where its ports are, for those who connect to it.
    var host = SocketAddress.loopback(port: 0)
    /// nil: that of the run.
    var network: NetworkNamespace?
    var ports: [UInt16] = []
    var child: ChildProcess?
    /// Measures what the program uses.
    var meter: ResourceMeter?
    /// Programs of earlier starts: what they have left running is the case's until its end.
    var earlier: [ChildProcess] = []
    /// Of each start when it began (wall clock, in nanoseconds), and of all but the last when the program ended: whose a connection
    /// is, is told by it.
    var lives: [(began: UInt64, ended: MonotonicTime?)] = []
    /// Where it runs; removed with the case.
    var folder: String?
    /// Where the last `expect output` ended.
    var output = OutputCursor()
    /// A line of the output log that an `expect output` has consumed, and that step for a report.
    struct Consumed {
        var line: Int
        var step: String
    }

    /// The last of them, of the present start.
    var consumed: [Consumed] = []
    /// Searches lines before they are dropped from its output log.
    var watch: OutputWatch?
    /// `P stop` is under way or done: its exit is no news.
    var isStopping = false
    /// The exit is in the timeline.
    var exitIsReported = false
    /// The exit has been expected.
    var exitIsTaken = false
    /// Lines of its output log that are in the timeline already.
    var reportedLines = 0

    /// All that it has started.
    var children: [ChildProcess] { earlier + (child.map { [$0] } ?? []) }

    init(name: String, command: ProcessCommand) {
        self.name = name
        self.command = command
    }
}
