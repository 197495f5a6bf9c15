import CShims
import Glibc
import ProbeBase
import ProbeEvents
import ProbeSystem

/// A snapshot of a program's state, for one evaluation of an expectation. Data from the kernel's tables is queried for
/// each snapshot.
struct ProcessView {
    enum Observation {
        case none
        /// Whether the program listens, and the time of the check.
        case listening(Bool, at: MonotonicTime)
        /// The resources that the program uses.
        case measured(ResourceMeasure)
    }

    var name: String
    var exit: ChildProcess.Exit?
    var exitedAt: MonotonicTime?
    var outputLog = OutputLog()
    /// Whether a process started by the program, such as a daemon, may still print after the program has ended.
    var isOutputOpen = false
    /// The position in the output after the match of the last `expect output`.
    var cursor = OutputCursor()
    /// The lines that steps have consumed; see ``ProcessActor/consumed``.
    var consumed: [ProcessActor.Consumed] = []
    /// The matches found in output that has been dropped from the log.
    var watch = OutputWatch([])
    var observation = Observation.none

    var lastLines: [String] { outputLog.lastLinesText }
}

extension OutputLog {
    /// The last lines of the output, for a finding.
    var lastLinesText: [String] {
        let last = lines.suffix(8)
        if last.isEmpty { return ["it printed nothing"] }
        return ["the last lines of its output:"] + last.map { "  \(Escaped.text($0.bytes.prefix(300)))" }
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

    /// Returns a predicate for the exit of an actor's program. If `P stop` sent the signal that ended the program,
    /// the predicate names the script as the cause.
    static func describe(_ exit: ChildProcess.Exit, of process: ProcessActor) -> String {
        guard process.isStopping, case .signal(let number) = exit, [SIGTERM, SIGKILL].contains(number) else {
            return describe(exit)
        }
        return "was stopped by the script with \(name(number))"
    }

    private static func name(_ number: Int32) -> String {
        guard let text = probe_signal_name(number) else { return "signal \(number)" }
        return "SIG" + String(cString: text)
    }
}
