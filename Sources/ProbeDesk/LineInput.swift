import CEditline
import CShims
import Glibc
package import ProbeSystem
import Synchronization

/// Reads lines from standard input, one for each request, and shows text above the line that is being typed.
///
/// A separate thread reads, because the line editor waits for the next key while arriving data must be shown. If
/// standard input or output is not a terminal, or the editing library is missing, lines are read without editing.
package final class LineInput: Sendable {
    package enum Event: Sendable {
        case line([UInt8])
        /// The user's partially typed line was discarded.
        case discarded
        /// The input has ended.
        case end
    }

    /// The ways in which lines can be read.
    package enum Mode: Sendable {
        case edited
        /// Lines are read from a terminal without line editing, for the given reason.
        case plain(reason: String)
        case piped
    }

    package let mode: Mode
    private let wake: Int32
    private let state = Mutex(State())
    private let completions: @Sendable (String) -> (typed: String, words: [String])
    private let history: String?

    private struct State {
        /// The text that the reading thread shows as soon as possible.
        var text = ""
        var prompt: String?
        var discards = false
        var hasEnded = false
        /// The message to show if an empty line is discarded.
        var hint = ""
        /// The bytes that were read after the last complete line.
        var rest: [UInt8] = []
        var deliver: (@Sendable (Event) -> Void)?
    }

    /// Creates an input and chooses its mode.
    ///
    /// - Parameters:
    ///   - history: the file of earlier lines; `nil` for no history.
    ///   - completions: returns the last word of the text before the cursor, and the words that may replace it.
    package init(
        history: String?, completions: @escaping @Sendable (String) -> (typed: String, words: [String])
    ) throws(SystemError) {
        (self.history, self.completions) = (history, completions)
        wake = probe_eventfd()
        if wake < 0 { throw SystemError("eventfd") }
        if isatty(0) != 1 {
            mode = .piped
        } else if isatty(1) != 1 {
            mode = .plain(reason: "standard output is not a terminal")
        } else if getenv("TERM").map({ String(cString: $0) }) ?? "dumb" == "dumb" {
            mode = .plain(reason: "the terminal can't move the cursor (TERM)")
        } else if let reason = probe_editor_load() {
            mode = .plain(reason: String(cString: reason))
        } else {
            mode = .edited
        }
    }

    deinit { close(wake) }

    // MARK: Interface for the session

    /// Starts the thread, which runs until ``end()`` is called.
    package func start() throws(SystemError) -> WorkerThread {
        try WorkerThread("terminal", signals: .blocked) { [self] in
            if case .edited = mode { edit() } else { readPlainly() }
        }
    }

    /// Requests the next line.
    ///
    /// - Parameter deliver: receives the line on the reading thread.
    package func ask(_ prompt: String, deliver: @escaping @Sendable (Event) -> Void) {
        state.withLock { ($0.prompt, $0.deliver) = (prompt, deliver) }
        signal()
    }

    /// Shows complete lines above the line that is being typed. May be used only with ``Mode/edited``.
    package func show(_ text: String) {
        state.withLock { $0.text += text }
        signal()
    }

    /// Discards the line that is being typed.
    ///
    /// - Parameter hint: the message to show if the line is empty.
    package func discard(hint: String) {
        state.withLock { ($0.discards, $0.hint) = (true, hint) }
        signal()
    }

    /// Ends the thread and restores the terminal.
    package func end() {
        state.withLock { $0.hasEnded = true }
        signal()
    }

    private func signal() {
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }

    private func clearSignal() {
        var count: UInt64 = 0
        _ = read(wake, &count, 8)
    }

    private func deliver(_ event: Event) {
        let deliver = state.withLock { state in
            defer { state.deliver = nil }
            return state.deliver
        }
        deliver?(event)
    }

    /// Waits until a line is requested.
    ///
    /// - Parameter serve: called before each check for a request, to handle other signals from the session.
    /// - Returns: the prompt; `nil` if the input has ended.
    private func nextPrompt(_ serve: () -> Void) -> String? {
        while true {
            serve()
            let (hasEnded, prompt) = state.withLock { state in
                defer { state.prompt = nil }
                return (state.hasEnded, state.prompt)
            }
            if hasEnded { return nil }
            if let prompt { return prompt }
            var poller = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
            _ = poll(&poller, 1, -1)
            clearSignal()
        }
    }

    // MARK: Unedited lines

    private func readPlainly() {
        while let prompt = nextPrompt({}) {
            if case .plain = mode { _ = SmallFile.writeAll(Array(prompt.utf8), to: 1) }
            guard let event = nextPlainLine() else { return }
            deliver(event)
        }
    }

    /// Reads the next line without line editing.
    ///
    /// - Returns: the line; `nil` if the session has ended in the meantime.
    private func nextPlainLine() -> Event? {
        var bytes = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        var searched = 0
        while true {
            if let end = bytes[searched...].firstIndex(of: 10) {
                let rest = Array(bytes[(end + 1)...])
                state.withLock { $0.rest = rest }
                return .line(Array(bytes[..<end]))
            }
            searched = bytes.count
            var pollers = [
                pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&pollers, 2, -1)
            if pollers[1].revents != 0 {
                clearSignal()
                if state.withLock({ $0.hasEnded }) { return nil }
            }
            guard pollers[0].revents != 0 else { continue }
            let chunk = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer -> [UInt8]? in
                let count = read(0, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR || errno == EAGAIN { return [] }
                return count > 0 ? Array(buffer[..<count]) : nil
            }
            guard let chunk else {
                // The last line is delivered even if it does not end with a line feed.
                return bytes.isEmpty ? .end : .line(bytes)
            }
            bytes += chunk
        }
    }

    // MARK: Edited lines

    private func edit() {
        let calls = probe_editor_calls(
            owner: Unmanaged.passUnretained(self).toOpaque(), woken: editorWoken, complete: editorComplete)
        let editor =
            history.map { $0.withCString { probe_editor_open(wake, $0, calls) } } ?? probe_editor_open(wake, nil, calls)
        guard let editor else {
            // Without the editor, no line can be read.
            deliver(.end)
            return
        }
        defer { probe_editor_close(editor) }
        current.withLock { $0 = Int(bitPattern: editor) }
        while let prompt = nextPrompt({ showText(editor) }) {
            var length = 0
            guard let line = prompt.withCString({ probe_editor_read(editor, $0, &length) }) else {
                if state.withLock({ $0.hasEnded }) { break }
                deliver(wasDiscarded.withLock { $0 } ? .discarded : .end)
                wasDiscarded.withLock { $0 = false }
                continue
            }
            let bytes = Array(UnsafeRawBufferPointer(start: line, count: length))
            if bytes.contains(where: { $0 != 32 }) { probe_editor_remember(editor, line) }
            deliver(.line(bytes))
        }
        showText(editor)
    }

    /// The editor's address as a number, which only the editor's own thread converts to a pointer.
    private let current = Mutex(0)
    /// Whether reading stopped because the line was discarded.
    private let wasDiscarded = Mutex(false)

    private func showText(_ editor: OpaquePointer) {
        let text = state.withLock { state in
            defer { state.text = "" }
            return state.text
        }
        if text.isEmpty { return }
        var shown = text
        shown.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { probe_editor_show(editor, $0.baseAddress, $0.count) }
        }
    }

    /// Returns whether reading the line must stop. Called on the editor's thread while a line is being typed.
    fileprivate func mustEnd() -> Bool {
        clearSignal()
        guard let editor = current.withLock({ OpaquePointer(bitPattern: $0) }) else { return true }
        showText(editor)
        let (discards, hint, hasEnded) = state.withLock { state in
            defer { state.discards = false }
            return (state.discards, state.hint, state.hasEnded)
        }
        if hasEnded { return true }
        guard discards else { return false }
        if probe_editor_discard(editor) == 0 { state.withLock { $0.text = hint + "\n" + $0.text } }
        wasDiscarded.withLock { $0 = true }
        return true
    }

    /// Returns the completion of the text: the characters to insert after it, and the candidates to show.
    fileprivate func completion(of text: String) -> (insert: String, shown: String) {
        let (typed, words) = completions(text)
        guard let first = words.first else { return ("", "") }
        let common = words.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        var insert = String(common.dropFirst(typed.count))
        if words.count == 1 { insert += " " }
        let shown = words.count > 1 && insert.isEmpty ? words.joined(separator: "  ") + "\n" : ""
        return (insert, shown)
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

private func editorWoken(_ owner: UnsafeMutableRawPointer?) -> Int32 {
    guard let owner else { return 1 }
    return Unmanaged<LineInput>.fromOpaque(owner).takeUnretainedValue().mustEnd() ? 1 : 0
}

private func editorComplete(
    _ owner: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
    _ insert: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ shown: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) {
    guard let owner, let text else { return }
    let completion = Unmanaged<LineInput>.fromOpaque(owner).takeUnretainedValue().completion(of: String(cString: text))
    if !completion.insert.isEmpty { insert?.pointee = strdup(completion.insert) }
    if !completion.shown.isEmpty { shown?.pointee = strdup(completion.shown) }
}
