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

    package let pid: Int32
    package private(set) var exit: Exit?
    package private(set) var exitedAt: MonotonicTime?
    package private(set) var transcript = Transcript()
    package var onChange: () -> Void = {}

    private let reactor: Reactor
    private let pidDescriptor: OwnedDescriptor
    private var input: OwnedDescriptor?
    private var output: [Stream: Int32] = [:]
    private var pendingInput: [UInt8] = []

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
        let stdin = try Pipe()
        let stdout = try Pipe()
        let stderr = try Pipe()
        var code: Int32 = 0
        let (input, output, errors) = (stdin.read.raw, stdout.write.raw, stderr.write.raw)
        let pid = Leftovers.began {
            withCStrings(words) { words in
                withCStrings(environment) { environment in
                    probe_spawn(path, words, environment, directory, input, output, errors, &code)
                }
            }
        }
        guard pid > 0 else { throw SystemError("exec", code: code) }
        self.pid = pid
        let handle = probe_pidfd_open(pid)
        guard handle >= 0 else {
            let error = SystemError("pidfd_open")
            kill(-pid, SIGKILL)
            waitpid(pid, nil, 0)
            Leftovers.ended(pid)
            throw error
        }
        pidDescriptor = OwnedDescriptor(handle)
        self.input = stdin.takeWrite()
        for (stream, raw) in [(Stream.output, stdout.takeReadRaw()), (.error, stderr.takeReadRaw())] {
            self.output[stream] = raw
            _ = fcntl(raw, F_SETFL, O_NONBLOCK)
        }
        if let raw = rawInput { _ = fcntl(raw, F_SETFL, O_NONBLOCK) }
        do {
            try reactor.register(handle, for: .read) { [weak self] _ in self?.reap() }
            for (stream, raw) in self.output {
                try reactor.register(raw, for: .read) { [weak self] _ in self?.read(stream) }
            }
        } catch {
            killGroup(SIGKILL)
            throw error
        }
    }

    deinit {
        reactor.unregister(pidDescriptor.raw)
        for raw in output.values {
            reactor.unregister(raw)
            close(raw)
        }
        if let raw = rawInput { reactor.unregister(raw) }
        if exit == nil {
            kill(-pid, SIGKILL)
            waitpid(pid, nil, 0)
            Leftovers.ended(pid)
        }
    }

    private var rawInput: Int32? {
        switch input {
        case .some(let owned): owned.raw
        case .none: nil
        }
    }

    package var isRunning: Bool { exit == nil }

    /// Sends a signal to the program itself.
    package func signal(_ number: Int32) {
        if exit == nil { kill(pid, number) }
    }

    /// Sends a signal to its whole process group; also when the program itself has ended, for those it left behind.
    package func killGroup(_ number: Int32) {
        kill(-pid, number)
    }

    /// Writes to its stdin; what the pipe does not take now is written as it drains.
    package func write(_ bytes: [UInt8]) {
        pendingInput += bytes
        flush()
    }

    package func closeInput() {
        if let raw = rawInput { reactor.unregister(raw) }
        input = nil
    }

    /// Takes what lies in its pipes, and its end if it has come, without waiting to be told.
    package func look() {
        for stream in output.keys { read(stream) }
        if exit == nil { reap() }
    }

    private func flush() {
        guard let raw = rawInput else { return }
        while !pendingInput.isEmpty {
            let count = pendingInput.withUnsafeBytes { Glibc.write(raw, $0.baseAddress!, $0.count) }
            if count > 0 {
                pendingInput.removeFirst(count)
            } else if errno == EAGAIN {
                if !reactor.isRegistered(raw) {
                    // Without a watch the rest would wait for ever; out of descriptors is the only way to get here.
                    do { try reactor.register(raw, for: .write) { [weak self] _ in self?.flush() } } catch {
                        closeInput()
                    }
                }
                return
            } else if errno != EINTR {
                pendingInput = []
                break
            }
        }
        reactor.unregister(raw)
    }

    private func read(_ stream: Stream) {
        guard let raw = output[stream] else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<16 {
            let count = Glibc.read(raw, &chunk, chunk.count)
            if count > 0 {
                transcript.append(chunk[0..<count], from: stream, at: .now)
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

    private func reap() {
        var status: Int32 = 0
        let result = probe_reap(pid, &status)
        if result == 0 { return }
        reactor.unregister(pidDescriptor.raw)
        // What it printed before its end is in the pipes already.
        for stream in output.keys { read(stream) }
        exitedAt = .now
        let signal = status & 0x7f
        Leftovers.ended(pid)
        exit = result < 0 ? .status(-1) : signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
        onChange()
    }
}

/// Both ends of a pipe, close-on-exec.
private struct Pipe: ~Copyable {
    var read: OwnedDescriptor
    var write: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        if probe_pipe(&ends) < 0 { throw SystemError("pipe2") }
        read = OwnedDescriptor(ends[0])
        write = OwnedDescriptor(ends[1])
    }

    consuming func takeWrite() -> OwnedDescriptor { write }

    /// The reading end as a number that the caller closes.
    consuming func takeReadRaw() -> Int32 { fcntl(read.raw, F_DUPFD_CLOEXEC, 3) }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}
