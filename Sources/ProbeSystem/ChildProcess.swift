package import ProbeBase
import CShims
import Glibc

/// A program under test, in its own process group. Output and exit are processed as soon as they occur.
///
/// Confined to its reactor's thread. The harness starts programs itself, without a library, because the exit, the
/// output and the deadlines of steps must form one sequence of events on one thread.
package final class ChildProcess {
    package enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    package enum Stream: Sendable { case output, error }

    package var pid: Int32 { program.pid }
    package private(set) var exit: Exit?
    package private(set) var exitedAt: MonotonicTime?
    package private(set) var outputLog = OutputLog()
    /// The number of descendants that could not be ended; set once all other descendants have ended.
    package private(set) var left: Int?
    /// Whether the program's guard was killed. If so, the guardian, which is the guard's parent process, must end the
    /// program's descendants.
    package private(set) var isUnguarded = false
    /// Whether the program was killed only because its guard was killed. If so, ``exit`` does not describe the program
    /// itself.
    package private(set) var exitIsUnknown = false
    /// The reason why input could not be written to the program.
    package private(set) var inputError: SystemError?
    private let changes = ChangeHandler()
    package var onChange: () -> Void {
        get { changes.handler }
        set { changes.handler = newValue }
    }

    private let reactor: Reactor
    private let program: GuardedProgram
    private var input: Int32?
    private var output: [Stream: Int32] = [:]
    /// The writes to the program's stdin that have not been completed. The first `writtenInput` bytes of the first
    /// write have been written.
    private var pendingInput: [[UInt8]] = []
    private var writtenInput = 0
    /// The number of bytes of pending input.
    package private(set) var pendingInputCount = 0
    /// Called before old lines of output are dropped. Returns, for each line, whether to keep it.
    package var keepsLines: (_ lines: ArraySlice<OutputLog.Line>, _ first: Int) -> [Bool] = { _, _ in [] }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - path: the executable's path, already resolved.
    ///   - words: the program's arguments, beginning with its name.
    ///   - environment: entries of the form `NAME=value`.
    ///   - directory: the program's working directory.
    ///   - place: the network that the program runs in; `nil` for this process's network.
    package init(
        path: String, words: [String], environment: [String], directory: String, in place: ProgramPlace? = nil,
        reactor: Reactor
    ) throws(SystemError) {
        self.reactor = reactor
        let streams: GuardedProgram.Streams
        (program, streams) = try GuardedProgram.start(
            path: path, words: words, environment: environment, directory: directory, in: place)
        input = streams.input
        output = [.output: streams.output, .error: streams.errors]
        do {
            try reactor.register(program.descriptor, for: .read) { [weak self] _ in self?.handleEvents() }
            for (stream, raw) in self.output {
                try reactor.register(raw, for: .read) { [weak self] _ in self?.read(stream) }
            }
        } catch {
            killGroup(SIGKILL)
            throw error
        }
    }

    deinit {
        reactor.unregister(program.descriptor)
        for raw in output.values {
            reactor.unregister(raw)
            close(raw)
        }
        closeInput()
        if left == nil { program.endAndWait() }
    }

    package var isRunning: Bool { exit == nil }

    /// Whether the program, or a process that it has started, may still print.
    package var isOutputOpen: Bool { !output.isEmpty }

    /// The program and every process that it has started.
    package var processes: ProcessTree { program.processes }

    /// Sends a signal to the program itself.
    package func signal(_ number: Int32) {
        if exit == nil { kill(pid, number) }
    }

    /// Sends a signal to the program's process group, even after the program itself has ended.
    package func killGroup(_ number: Int32) {
        program.signalGroup(number)
    }

    /// Ends all descendants of the program, whatever their process group, session and environment. The number of
    /// descendants that could not be ended is then in ``left``.
    package func endDescendants() { program.end() }

    /// Kills the program's guard if it has not ended the program's processes in time. The guardian, which is the
    /// guard's parent process, then ends them.
    package func giveUp() { program.giveUp() }

    /// Writes to the program's stdin. Bytes that the pipe can't accept now are written later.
    package func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        pendingInput.append(bytes)
        pendingInputCount += bytes.count
        flush()
    }

    package func closeInput() {
        guard let raw = input else { return }
        reactor.unregister(raw)
        close(raw)
        input = nil
    }

    /// Reads the program's output and, if the program has ended, its exit status, without waiting for the reactor.
    package func look() {
        for stream in output.keys { read(stream) }
        if exit == nil { handleEvents() }
    }

    /// Releases the lines of output that precede the given line and are no longer needed.
    package func releaseOutput(before line: Int) { outputLog.release(before: line) }

    private func flush() {
        guard let raw = input else { return }
        // At most 1 MiB is written per call, so that timers and other descriptors are served even if the program reads
        // as fast as this process writes.
        var room = 1 << 20
        while let first = pendingInput.first, room > 0 {
            let count = first.withUnsafeBytes {
                Glibc.write(raw, $0.baseAddress! + writtenInput, min(room, $0.count - writtenInput))
            }
            if count > 0 {
                room -= count
                writtenInput += count
                pendingInputCount -= count
                if writtenInput == first.count {
                    pendingInput.removeFirst()
                    writtenInput = 0
                }
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                (pendingInput, writtenInput, pendingInputCount) = ([], 0, 0)
            }
        }
        if pendingInput.isEmpty {
            reactor.unregister(raw)
        } else if !reactor.isRegistered(raw) {
            // The descriptor must be registered for writing; otherwise, the remaining input would never be written.
            do { try reactor.register(raw, for: .write) { [weak self] _ in self?.flush() } } catch {
                inputError = error
                closeInput()
                changes.notify()
            }
        }
    }

    private func read(_ stream: Stream) {
        guard let raw = output[stream] else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<16 {
            let count = Glibc.read(raw, &chunk, chunk.count)
            if count > 0 {
                outputLog.append(chunk[0..<count], from: stream, at: .now, keeping: keepsLines)
                continue
            }
            if count == 0 || (errno != EAGAIN && errno != EINTR) {
                reactor.unregister(raw)
                close(raw)
                output[stream] = nil
            }
            break
        }
        changes.notify()
    }

    private func handleEvents() {
        while let event = program.next() {
            // Output that the program printed before it ended is already in the pipes.
            for stream in output.keys { read(stream) }
            switch event {
            case .exit(let status, let time):
                let signal = status & 0x7f
                exitedAt = time
                exit = signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
            case .gone(let count):
                reactor.unregister(program.descriptor)
                left = count
            case .lost:
                reactor.unregister(program.descriptor)
                (left, isUnguarded) = (0, true)
                // If a guard is killed, the kernel also kills its program.
                if exit == nil { (exit, exitedAt, exitIsUnknown) = (.signal(SIGKILL), .now, true) }
            }
        }
        changes.notify()
    }
}
