import ProbeBase
import Glibc
import ProbeReport
import ProbeSystem
import Synchronization

/// Writes text to a descriptor, whole, whatever the kernel takes at a time.
final class Console: Sendable {
    static let standardOutput = Console(descriptor: 1)
    static let standardError = Console(descriptor: 2)

    private struct State {
        /// The errno of the first write that failed; later ones are not tried.
        var broken: Int32?
        /// nil: no runner of a CI looks for commands in the text.
        var filter: WorkflowCommandFilter?
        /// What lets the runner look for commands again.
        var token: String?
    }

    private let descriptor: Int32
    private let state: Mutex<State>

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(State(filter: Console.isReadByRunner ? WorkflowCommandFilter() : nil))
    }

    /// A runner of GitHub's kind reads what is printed: it says so in the environment, or the user does.
    static let isReadByRunner: Bool =
        getenv("GITHUB_ACTIONS").map { !["", "false"].contains(String(cString: $0)) } ?? false
        || ProgramArguments.words.contains("--github")

    /// Why output was lost (a full disk, say); nil while it was not. A reader that went away is no failure.
    var failure: Int32? { state.withLock { $0.broken == EPIPE ? nil : $0.broken } }

    /// Whoever read it has gone.
    var isReaderGone: Bool { state.withLock { $0.broken == EPIPE } }

    /// Columns of the terminal; nil for what is none.
    var width: Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    func write(_ text: String) {
        write(Array(text.utf8))
    }

    func write(_ bytes: [UInt8]) {
        state.withLock { state in
            put(state.filter?.filtered(bytes) ?? bytes, &state)
        }
    }

    private func put(_ bytes: [UInt8], _ state: inout State) {
        if state.broken == nil { state.broken = SmallFile.writeAll(bytes, to: descriptor) }
    }

    // MARK: Commands for a runner

    /// From here on the runner takes nothing for a command that is not written by ``writeCommands(_:)``, nor what others write.
    func stopCommands() {
        state.withLock { stopCommands(&$0) }
    }

    /// The process's own commands for the runner.
    func writeCommands(_ commands: [UInt8]) {
        state.withLock { state in
            resumeCommands(&state)
            put(commands, &state)
            stopCommands(&state)
        }
    }

    /// The last that is written: the step's other programs may have commands of their own.
    func resumeCommands() {
        state.withLock { resumeCommands(&$0) }
    }

    private func stopCommands(_ state: inout State) {
        // Each token is shown when it ends a pause, and never used again.
        var generator = SystemRandomNumberGenerator()
        let token = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
        put(lineBreak(state) + Array("::stop-commands::\(token)\n".utf8), &state)
        state.token = token
    }

    private func resumeCommands(_ state: inout State) {
        guard let token = state.token else { return }
        put(lineBreak(state) + Array("::\(token)::\n".utf8), &state)
        state.token = nil
    }

    /// A command is a line of its own.
    private func lineBreak(_ state: State) -> [UInt8] {
        state.filter?.isAtLineStart == false ? [10] : []
    }

    /// Columns for a live line; nil where none is wanted.
    var progressWidth: Int? {
        guard isatty(descriptor) == 1, getenv("TERM").map({ String(cString: $0) }) != "dumb" else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Colour only on a terminal that has it and was not told otherwise (no-color.org).
    var usesColor: Bool {
        guard isatty(descriptor) == 1 else { return false }
        if let set = getenv("NO_COLOR"), set.pointee != 0 { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
