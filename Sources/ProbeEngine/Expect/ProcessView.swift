import CShims
import ProbeBase
import ProbeEvents
import ProbeSystem

/// What there is of a program that an expectation may be about. What is asked of the kernel's tables is asked for one look.
struct ProcessView {
    enum Observation {
        case none
        /// Whether it listens, looked for at that moment.
        case listening(Bool, at: MonotonicTime)
        /// What it uses.
        case measured(ResourceMeasure)
    }

    var name: String
    var exit: ChildProcess.Exit?
    var exitedAt: MonotonicTime?
    var outputLog = OutputLog()
    /// A process that it has started may print after its end, as a daemon does.
    var isOutputOpen = false
    /// Where the last `expect output` ended.
    var cursor = OutputCursor()
    /// The lines that steps have consumed, as ``ProcessActor/consumed``.
    var consumed: [ProcessActor.Consumed] = []
    /// What was found in output that is no longer kept.
    var watch = OutputWatch([])
    var observation = Observation.none

    var lastLines: [String] { outputLog.lastLinesText }
}

extension OutputLog {
    /// The last lines, for a report.
    var lastLinesText: [String] {
        let last = lines.suffix(8)
        if last.isEmpty { return ["it printed nothing"] }
        return ["the last lines that it printed:"] + last.map { "  \(Escaped.text($0.bytes.prefix(300)))" }
    }
}

/// How a program ended, in words.
enum ExitText {
    static func describe(_ exit: ChildProcess.Exit?) -> String {
        switch exit {
        case nil: "running"
        case .status(let code): "exit status \(code)"
        case .signal(let number): "signal \(name(number))"
        }
    }

    private static func name(_ number: Int32) -> String {
        guard let text = probe_signal_name(number) else { return "\(number)" }
        return String(cString: text)
    }
}
