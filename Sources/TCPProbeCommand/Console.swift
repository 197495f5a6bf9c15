import ProbeBase
import ProbeDesk
import Glibc
import ProbeReport
import ProbeSystem
import Synchronization

/// Writes text to a descriptor. If the kernel accepts only part of the text, the remaining text is written with further
/// calls.
final class Console: DeskOutput {
    static let standardOutput = Console(descriptor: 1)
    static let standardError = Console(descriptor: 2)

    private struct State {
        /// The `errno` of the first write that failed, after which no more writes are attempted; `nil` if none has
        /// failed.
        var broken: Int32?
        /// A filter that escapes CI commands in the text; `nil` if no CI runner reads the output.
        var filter: WorkflowCommandFilter?
        /// The token that makes the runner process commands again; `nil` if the runner has not been asked to stop
        /// processing commands.
        var token: String?
    }

    private let descriptor: Int32
    private let state: Mutex<State>

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(State(filter: Console.isReadByRunner ? WorkflowCommandFilter() : nil))
    }

    /// Whether the output is read by a CI runner such as GitHub's, according to the environment or to an option.
    static let isReadByRunner: Bool =
        getenv("GITHUB_ACTIONS").map { !["", "false"].contains(String(cString: $0)) } ?? false
        || ProgramArguments.words.contains("--github")

    /// The `errno` of the write that lost output, for example because of a full disk; `nil` if no output was lost. A
    /// reader that has closed its end is not considered a failure.
    var failure: Int32? { state.withLock { $0.broken == EPIPE ? nil : $0.broken } }

    /// Whether the reader of the output has closed its end.
    var isReaderGone: Bool { state.withLock { $0.broken == EPIPE } }

    /// The width of the terminal, in columns; `nil` if the output is not a terminal.
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

    /// Writes diagnostics about scripts, in color if the terminal supports it.
    func write(diagnostics text: String) {
        write(usesColor ? DiagnosticPaint.painted(text) : text)
    }

    private func put(_ bytes: [UInt8], _ state: inout State) {
        if state.broken == nil { state.broken = SmallFile.writeAll(bytes, to: descriptor) }
    }

    // MARK: Commands for a CI runner

    /// Makes the runner ignore all commands except the commands from ``writeCommands(_:)``, so that no other text, not
    /// even from another program, can be taken for a command.
    func stopCommands() {
        state.withLock { stopCommands(&$0) }
    }

    /// Writes commands for the runner.
    func writeCommands(_ commands: [UInt8]) {
        state.withLock { state in
            resumeCommands(&state)
            put(commands, &state)
            stopCommands(&state)
        }
    }

    /// Makes the runner process commands again, for programs that run after this program. Must be called after all
    /// other output.
    func resumeCommands() {
        state.withLock { resumeCommands(&$0) }
    }

    private func stopCommands(_ state: inout State) {
        // Resuming commands prints the token, so each token is used only once.
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

    /// Returns a line break if the last output did not end with a line break, because a command must be on its own
    /// line.
    private func lineBreak(_ state: State) -> [UInt8] {
        state.filter?.isAtLineStart == false ? [10] : []
    }

    /// The width for a progress line, in columns; `nil` if no progress line should be shown.
    var progressWidth: Int? {
        guard isatty(descriptor) == 1, getenv("TERM").map({ String(cString: $0) }) != "dumb" else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Whether to use color: only on a terminal that supports it, and only if `NO_COLOR` is not set (no-color.org).
    var usesColor: Bool {
        guard isatty(descriptor) == 1 else { return false }
        if let set = getenv("NO_COLOR"), set.pointee != 0 { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }
}
