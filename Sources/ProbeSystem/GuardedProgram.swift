package import ProbeBase
import CShims
import Glibc

/// A program and all its descendants, as reported by its guard.
///
/// The guard is the program's parent and the subreaper of its descendants. It ends the descendants on request, when
/// this object is released, and when this process ends. Confined to one thread.
package final class GuardedProgram {
    package enum Event {
        /// The program has ended, with the given status (in the encoding of `waitpid`) and at the given time.
        case exit(Int32, MonotonicTime)
        /// All descendants have ended, except for `left` processes that could not be ended.
        case gone(left: Int)
        /// The guard was killed. The guardian, which is the guard's parent process, will end the descendants.
        case lost
    }

    package let pid: Int32
    /// A descriptor that is readable when an event is available.
    package let descriptor: Int32
    private let guardPid: Int32
    private var isGone = false

    /// The time within which the guard should end all processes; the guard itself stops trying earlier.
    package static let timeout = Duration.seconds(12)

    /// The harness's ends of a program's stdin, stdout and stderr: non-blocking descriptors that the caller must close.
    package typealias Streams = (input: Int32, output: Int32, errors: Int32)

    /// Starts a program with a pipe for each of its streams.
    ///
    /// - Parameters:
    ///   - path: the executable's path, already resolved.
    ///   - words: the program's arguments, beginning with its name.
    ///   - environment: entries of the form `NAME=value`.
    ///   - directory: the program's working directory.
    ///   - place: the network that the program runs in; `nil` for this process's network.
    package static func start(
        path: String, words: [String], environment: [String], directory: String, in place: ProgramPlace? = nil
    ) throws(SystemError) -> (GuardedProgram, Streams) {
        let input = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        let program = try GuardedProgram(
            path: path, words: words, environment: environment, directory: directory,
            streams: (input.read.raw, output.write.raw, errors.write.raw), in: place)
        let streams = (input: input.write.release(), output: output.read.release(), errors: errors.read.release())
        for raw in [streams.input, streams.output, streams.errors] { _ = fcntl(raw, F_SETFL, O_NONBLOCK) }
        return (program, streams)
    }

    /// Starts a program.
    ///
    /// - Parameter streams: descriptors of the program's stdin, stdout and stderr. The caller still owns them.
    private init(
        path: String, words: [String], environment: [String], directory: String,
        streams: (input: Int32, output: Int32, errors: Int32), in place: ProgramPlace?
    ) throws(SystemError) {
        (pid, guardPid, descriptor) = try Guardian.spawn(
            path: path, words: words, environment: environment, directory: directory, streams: streams,
            in: place)
    }

    deinit { close(descriptor) }

    /// The program and every process that it has started.
    package var processes: ProcessTree { ProcessTree(below: guardPid) }

    /// Returns the next event; `nil` if there is none.
    ///
    /// - Parameter timeout: the maximum time to wait for the event.
    package func next(within timeout: Duration = .zero) -> Event? {
        if isGone { return nil }
        var event = probe_news()
        let result = probe_next_news(descriptor, &event, Int32(clamping: timeout.nanoseconds / 1_000_000))
        if result == 0 { return nil }
        if result > 0, event.kind == Int32(PROBE_NEWS_EXIT) {
            // After `probe_take_exit`, the kernel may reuse the process id, so the program must not be signaled again.
            probe_take_exit(descriptor)
            return .exit(event.value, MonotonicTime(nanoseconds: event.time))
        }
        isGone = true
        return result > 0 && event.kind == Int32(PROBE_NEWS_GONE) ? .gone(left: Int(event.value)) : .lost
    }

    /// Sends a signal to the program's process group.
    package func signalGroup(_ number: Int32) {
        kill(-pid, number)
        resumeGuard()
    }

    /// Resumes the guard, because the program may have stopped it.
    private func resumeGuard() {
        if !isGone { kill(guardPid, SIGCONT) }
    }

    /// Ends all descendants; ``Event/gone(left:)`` is reported when they have ended.
    package func end() {
        probe_end_guarded(descriptor)
        resumeGuard()
    }

    /// Kills the program's guard if it has not ended the descendants in time. The guardian, which is the guard's parent
    /// process, then ends them.
    package func giveUp() {
        // As long as the guard's end of the socket is open, the process id belongs to the guard.
        if !isGone { kill(guardPid, SIGKILL) }
    }

    /// Ends all descendants and waits until they have ended.
    ///
    /// - Returns: the program's status, if it was not known before, and whether the program's guard has ended all
    ///   descendants. If the guard has not ended them, the guardian (the guard's parent process) will end them soon.
    @discardableResult
    package func endAndWait() -> (status: Int32?, isDone: Bool) {
        end()
        var status: Int32?
        let deadline = MonotonicTime.now + GuardedProgram.timeout
        while !isGone, MonotonicTime.now < deadline {
            switch next(within: .milliseconds(500)) {
            case .exit(let code, _)?: status = code
            case .gone(let left)?: return (status, left == 0)
            case .lost?: return (status, false)
            case nil: end()
            }
        }
        giveUp()
        return (status, false)
    }
}

/// The two ends of a pipe, both close-on-exec.
private struct Pipe: ~Copyable {
    let read: OwnedDescriptor
    let write: OwnedDescriptor

    init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        if probe_pipe(&ends) < 0 { throw SystemError("pipe2") }
        read = OwnedDescriptor(ends[0])
        write = OwnedDescriptor(ends[1])
    }
}

/// The network that a program is started in, if the program does not run in the harness's network.
package struct ProgramPlace: Sendable {
    /// A descriptor of the network namespace. The caller keeps it open while programs are started in the namespace.
    package var namespace: Int32
    /// Whether names are looked up by the resolver of the network; see ``NameLookup``.
    package var usesNames: Bool

    package init(namespace: Int32, usesNames: Bool = false) {
        (self.namespace, self.usesNames) = (namespace, usesNames)
    }
}
