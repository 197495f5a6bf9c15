import CShims
import ProbeBase
import ProbeEvents
import ProbeSystem

/// The state of a program that an expectation can be about. Data from the kernel's tables is queried for a single look.
struct ProcessView {
    enum Observation {
        case none
        /// Whether the program listens, and when that was checked.
        case listening(Bool, at: MonotonicTime)
        /// The resources that the program uses.
        case measured(ResourceMeasure)
    }

    var name: String
    var exit: ChildProcess.Exit?
    var exitedAt: MonotonicTime?
    var outputLog = OutputLog()
    /// Whether a process that the program started may print after the program's end, as a daemon does.
    var isOutputOpen = false
    /// Where the last `expect output` ended.
    var cursor = OutputCursor()
    /// The lines that steps have consumed; see ``ProcessActor/consumed``.
    var consumed: [ProcessActor.Consumed] = []
    /// What was found in output that is no longer kept.
    var watch = OutputWatch([])
    var observation = Observation.none

    var lastLines: [String] { outputLog.lastLinesText }
}

extension OutputLog {
    /// The last lines of the output, for a report.
    var lastLinesText: [String] {
        let last = lines.suffix(8)
        if last.isEmpty { return ["it printed nothing"] }
        return ["its last lines of output:"] + last.map { "  \(Escaped.text($0.bytes.prefix(300)))" }
    }
}

/// Describes how a program ended.
enum ExitText {
    /// Returns a predicate, such as `exited with status 1`.
    static func describe(_ exit: ChildProcess.Exit?) -> String {
        switch exit {
        case nil: "is running"
        case .status(let code): "exited with status \(code)"
        case .signal(let number): "was killed by \(name(number))"
        }
    }

    private static func name(_ number: Int32) -> String {
        guard let text = probe_signal_name(number) else { return "signal \(number)" }
        return "SIG" + String(cString: text)
    }
}
