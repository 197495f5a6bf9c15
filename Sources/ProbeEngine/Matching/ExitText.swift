import CShims
import ProbeSystem

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
