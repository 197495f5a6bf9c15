import CShims
import Glibc
import Synchronization

/// The process that starts programs and creates temporary folders on behalf of the harness, and outlives it.
///
/// The guardian is started before the first program. Orphans of the processes that it starts become its children, so it
/// can find every descendant, whatever its environment, session and process group. When the harness has ended, for
/// whatever reason, the guardian ends all descendants and removes the folders. A guardian that was killed is replaced
/// at the next request.
package enum Guardian {
    private struct State {
        var descriptor: Int32 = -1
        var pid: Int32 = 0
    }

    private static let state = Mutex(State())

    /// The number of times, one second apart, that SIGCONT is sent to a guardian that does not respond, because another
    /// process may have stopped it.
    private static let maxRounds = 30

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the executable's path, already resolved.
    ///   - words: the program's arguments, beginning with its name.
    ///   - environment: entries of the form `NAME=value`.
    ///   - directory: the program's working directory.
    ///   - streams: descriptors for the program's stdin, stdout and stderr.
    ///   - place: the network that the program runs in; `nil` for this process's network.
    static func spawn(
        path: String, words: [String], environment: [String], directory: String,
        streams: (input: Int32, output: Int32, errors: Int32), in place: ProgramPlace?
    ) throws(SystemError) -> (pid: Int32, guard: Int32, news: Int32) {
        try state.withLock { (state) throws(SystemError) in
            try retrying(&state) { (state) throws(SystemError) in
                // The guardian is resumed with SIGCONT, because a program may have stopped it.
                kill(state.pid, SIGCONT)
                var news: Int32 = -1
                let code = withCStrings(words) { words in
                    withCStrings(environment) { environment in
                        probe_guardian_spawn(
                            state.descriptor, path, words, environment, directory, streams.input, streams.output,
                            streams.errors, place?.namespace ?? -1, place?.usesNames == true ? 1 : 0, &news)
                    }
                }
                if code != 0 { throw SystemError("exec", code: code) }
                do throws(SystemError) {
                    let (pid, guardPid) = try started(news, guardian: state.pid)
                    return (pid, guardPid, news)
                } catch {
                    close(news)
                    throw error
                }
            }
        }
    }

    /// Creates a folder with a unique name.
    ///
    /// The folder is created by the guardian, so that at any time one process is responsible for removing the folder.
    static func makeFolder(in parent: String) throws(SystemError) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var attempts = 0
        while true {
            let name = "tcpprobe-" + String((0..<6).map { _ in letters.randomElement() ?? "x" })
            do throws(SystemError) {
                try state.withLock { (state) throws(SystemError) in
                    try retrying(&state) { (state) throws(SystemError) in
                        kill(state.pid, SIGCONT)
                        let code = probe_guardian_make_folder(state.descriptor, parent, name, 10_000)
                        if code != 0 { throw SystemError("mkdir", code: code) }
                    }
                }
                return parent + "/" + name
            } catch {
                attempts += 1
                if error.code != EEXIST || attempts == 100 { throw error }
            }
        }
    }

    /// Notifies the guardian that a folder has been removed.
    static func forget(folder: String) {
        let name = folder.split(separator: "/").last.map(String.init) ?? folder
        state.withLock { state in
            if state.descriptor >= 0 { _ = probe_guardian_forget_folder(state.descriptor, name) }
        }
    }

    /// Ends the guardian and everything it has started; returns when all these processes have ended.
    package static func end() { state.withLock { end(&$0) } }

    /// Calls `body` with a running guardian. If the guardian turns out to have ended, starts another one and calls
    /// `body` again.
    private static func retrying<R>(
        _ state: inout State, _ body: (inout State) throws(SystemError) -> R
    ) throws(SystemError) -> R {
        if state.descriptor < 0 { try start(&state) }
        do throws(SystemError) {
            return try body(&state)
        } catch {
            guard [EPIPE, ECONNRESET, ENOTCONN].contains(error.code) else { throw error }
            end(&state)
            try start(&state)
            return try body(&state)
        }
    }

    private static func start(_ state: inout State) throws(SystemError) {
        var pid: Int32 = 0
        var descriptor: Int32 = -1
        _ = ResourceTracker.began {
            descriptor = probe_guardian_start(&pid)
            return descriptor >= 0 ? pid : -1
        }
        guard descriptor >= 0 else { throw SystemError("fork", code: -descriptor) }
        (state.descriptor, state.pid) = (descriptor, pid)
    }

    private static func end(_ state: inout State) {
        guard state.descriptor >= 0 else { return }
        let (descriptor, pid) = (state.descriptor, state.pid)
        state = State()
        probe_end_guarded(descriptor)
        var news = probe_news()
        for round in 0..<maxRounds {
            // The guardian's end of the socket is closed when the guardian ends.
            if probe_next_news(descriptor, &news, 1000) < 0 { break }
            kill(pid, round < maxRounds - 1 ? SIGCONT : SIGKILL)
        }
        close(descriptor)
        waitpid(pid, nil, 0)
        ResourceTracker.ended(pid)
    }

    private static func started(_ descriptor: Int32, guardian: Int32) throws(SystemError) -> (Int32, Int32) {
        var news = probe_news()
        for _ in 0..<maxRounds {
            switch probe_next_news(descriptor, &news, 1000) {
            case 1 where news.kind == Int32(PROBE_NEWS_STARTED): return (news.value, news.guard)
            case 1: throw SystemError("exec", code: news.value)
            case 0: kill(guardian, SIGCONT)
            default:
                // While the harness was waiting, either the guardian itself or only this program's guard was killed.
                throw SystemError("exec", code: isAlive(guardian) ? ECHILD : EPIPE)
            }
        }
        throw SystemError("exec", code: ETIMEDOUT)
    }

    private static func isAlive(_ pid: Int32) -> Bool {
        var info = siginfo_t()
        // `waitid` returned no process id, so the process has not ended.
        return waitid(P_PID, UInt32(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
    }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}
