package import ProbeBase
import CShims
import Glibc

/// A program under test: in a process group of its own, its output read at once, its end noticed at once.
///
/// Confined to its reactor's thread. It is spawned here and not through a library because its end, its output and the
/// deadlines of steps must be one sequence of events on one thread.
package final class ChildProcess {
    package enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    package enum Stream: Sendable { case output, error }

    package var pid: Int32 { program.pid }
    package private(set) var exit: Exit?
    package private(set) var exitedAt: MonotonicTime?
    package private(set) var transcript = OutputLog()
    /// All that it has started has ended too, but for so many processes that could not be ended.
    package private(set) var left: Int?
    /// Its guard was killed; the guardian ends what it has started.
    package private(set) var isUnguarded = false
    /// Its guard was killed before it, and it with its guard: ``exit`` says nothing.
    package private(set) var exitIsUnknown = false
    /// Why what it was sent could not be written.
    package private(set) var trouble: SystemError?
    package var onChange: () -> Void = {}

    private let reactor: Reactor
    private let program: GuardedProgram
    private var input: Int32?
    private var output: [Stream: Int32] = [:]
    /// What its stdin has not taken yet: whole writes, of the first one what is behind `writtenInput`.
    private var pendingInput: [[UInt8]] = []
    private var writtenInput = 0
    /// Bytes of all of them.
    package private(set) var pendingInputCount = 0
    /// Asked before old lines of its output are dropped: for each whether it is kept.
    package var keepsLines: (_ lines: ArraySlice<OutputLog.Line>, _ first: Int) -> [Bool] = { _, _ in [] }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - path: of the executable, already looked up.
    ///   - words: its arguments, the name first.
    ///   - environment: `NAME=value` each.
    ///   - directory: it runs there.
    package init(
        path: String, words: [String], environment: [String], directory: String, reactor: Reactor
    ) throws(SystemError) {
        self.reactor = reactor
        let streams: GuardedProgram.Streams
        (program, streams) = try GuardedProgram.start(
            path: path, words: words, environment: environment, directory: directory)
        input = streams.input
        output = [.output: streams.output, .error: streams.errors]
        do {
            try reactor.register(program.descriptor, for: .read) { [weak self] _ in self?.takeNews() }
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

    /// Sends a signal to the program itself.
    package func signal(_ number: Int32) {
        if exit == nil { kill(pid, number) }
    }

    /// Sends a signal to its whole process group; also when the program itself has ended, for those it left behind.
    package func killGroup(_ number: Int32) {
        program.signalGroup(number)
    }

    /// Has all that it has started ended, in whatever group, session and environment it is; ``left`` tells when that is done.
    package func endDescendants() { program.end() }

    /// Does without the guard, which has not done its part in time.
    package func giveUp() { program.giveUp() }

    /// Writes to its stdin; what the pipe does not take now is written as it drains.
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

    /// Takes what lies in its pipes, and its end if it has come, without waiting to be told.
    package func look() {
        for stream in output.keys { read(stream) }
        if exit == nil { takeNews() }
    }

    /// Lines of its output before this one need not be kept any more.
    package func releaseOutput(before line: Int) { transcript.release(before: line) }

    private func flush() {
        guard let raw = input else { return }
        // A program that reads as fast as this writes gets 1 MiB a round: timers and other descriptors have their turn.
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
            // Without a watch the rest would wait for ever.
            do { try reactor.register(raw, for: .write) { [weak self] _ in self?.flush() } } catch {
                trouble = error
                closeInput()
                onChange()
            }
        }
    }

    private func read(_ stream: Stream) {
        guard let raw = output[stream] else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<16 {
            let count = Glibc.read(raw, &chunk, chunk.count)
            if count > 0 {
                transcript.append(chunk[0..<count], from: stream, at: .now, keeping: keepsLines)
                continue
            }
            if count == 0 || (errno != EAGAIN && errno != EINTR) {
                reactor.unregister(raw)
                close(raw)
                output[stream] = nil
            }
            break
        }
        onChange()
    }

    private func takeNews() {
        while let news = program.next() {
            // What it printed before its end is in the pipes already.
            for stream in output.keys { read(stream) }
            switch news {
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
                // It dies with its guard.
                if exit == nil { (exit, exitedAt, exitIsUnknown) = (.signal(SIGKILL), .now, true) }
            }
        }
        onChange()
    }
}
