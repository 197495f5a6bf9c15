import ProbeBase
import ProbeDesk
import Glibc
import ProbeReport
import ProbeSystem
import Synchronization

/// Writes text to a descriptor completely, also if the kernel takes only a part at a time.
final class Console: DeskOutput {
    static let standardOutput = Console(descriptor: 1)
    static let standardError = Console(descriptor: 2)

    private struct State {
        /// The errno of the first write that failed; later writes are not tried.
        var broken: Int32?
        /// Nil if no CI's runner looks for commands in the text.
        var filter: WorkflowCommandFilter?
        /// The token with which the runner resumes commands.
        var token: String?
    }

    private let descriptor: Int32
    private let state: Mutex<State>

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(State(filter: Console.isReadByRunner ? WorkflowCommandFilter() : nil))
    }

    /// Whether a runner like GitHub's reads the output: the environment says so, or the user does.
    static let isReadByRunner: Bool =
        getenv("GITHUB_ACTIONS").map { !["", "false"].contains(String(cString: $0)) } ?? false
        || ProgramArguments.words.contains("--github")

    /// Why output was lost, for example a full disk; nil if none was lost. A reader that closed its end is no failure.
    var failure: Int32? { state.withLock { $0.broken == EPIPE ? nil : $0.broken } }

    /// Whether the reader of the output has closed its end.
    var isReaderGone: Bool { state.withLock { $0.broken == EPIPE } }

    /// The width of the terminal, in columns; nil if the output is no terminal.
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

    /// Writes diagnostics of scripts, coloured where the terminal has colour.
    func write(diagnostics text: String) {
        write(usesColor ? DiagnosticPaint.painted(text) : text)
    }

    private func put(_ bytes: [UInt8], _ state: inout State) {
        if state.broken == nil { state.broken = SmallFile.writeAll(bytes, to: descriptor) }
    }

    // MARK: Commands for a runner

    /// From here on, the runner executes only commands that ``writeCommands(_:)`` writes; other text, also of other
    /// programs, can't be a command.
    func stopCommands() {
        state.withLock { stopCommands(&$0) }
    }

    /// Writes this process's own commands for the runner.
    func writeCommands(_ commands: [UInt8]) {
        state.withLock { state in
            resumeCommands(&state)
            put(commands, &state)
            stopCommands(&state)
        }
    }

    /// Lets the runner accept commands again, for the programs that run after this one. Must be the last output.
    func resumeCommands() {
        state.withLock { resumeCommands(&$0) }
    }

    private func stopCommands(_ state: inout State) {
        // The token is printed when it resumes commands, so each one is used once.
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

    /// A command must be on a line of its own.
    private func lineBreak(_ state: State) -> [UInt8] {
        state.filter?.isAtLineStart == false ? [10] : []
    }

    /// The width for a progress line, in columns; nil if none is to be shown.
    var progressWidth: Int? {
        guard isatty(descriptor) == 1, getenv("TERM").map({ String(cString: $0) }) != "dumb" else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Whether to use colour: only on a terminal that has it, and unless `NO_COLOR` is set (no-color.org).
    var usesColor: Bool {
        guard isatty(descriptor) == 1 else { return false }
        if let set = getenv("NO_COLOR"), set.pointee != 0 { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
