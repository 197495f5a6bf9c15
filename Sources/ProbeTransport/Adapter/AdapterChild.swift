import CShims
import Glibc
import ProbeSockets

/// The program of an adapter: its pipes and its process group. Confined to the thread that serves it.
final class AdapterChild {
    let pid: Int32
    /// Readable when it has ended.
    let pidDescriptor: Int32
    private(set) var input: Int32?
    private(set) var output: Int32?
    private(set) var errors: Int32?
    /// As `waitpid` gives it; nil while it runs.
    private(set) var status: Int32?
    /// In the environment of all that it starts, so that those which leave its group are found as well.
    private let marker: String

    init(path: String, words: [String], marker: String) throws(ProbeSockets.SystemError) {
        self.marker = marker
        let pipes = try Ends.three()
        var code: Int32 = 0
        pid = Leftovers.began {
            withCStrings(words) { words in
                withCStrings(AdapterChild.environment(marker)) { environment in
                    probe_spawn(path, words, environment, ".", pipes[0].read, pipes[1].write, pipes[2].write, &code)
                }
            }
        }
        close(pipes[0].read)
        close(pipes[1].write)
        close(pipes[2].write)
        var handle: Int32 = -1
        if pid > 0 {
            handle = probe_pidfd_open(pid)
            if handle < 0 {
                code = errno
                kill(-pid, SIGKILL)
                waitpid(pid, nil, 0)
            }
        }
        pidDescriptor = handle
        (input, output, errors) = (pipes[0].write, pipes[1].read, pipes[2].read)
        guard handle >= 0 else {
            closePipes()
            throw ProbeSockets.SystemError("exec", code: code)
        }
        for end in [pipes[0].write, pipes[1].read, pipes[2].read] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        closePipes()
        if pidDescriptor >= 0 { close(pidDescriptor) }
    }

    private static func environment(_ marker: String) -> [String] {
        var words = [marker]
        var entry = probe_environment()
        while let pointer = entry?.pointee {
            let word = String(cString: pointer)
            if !word.hasPrefix("TCPPROBE_ADAPTER=") { words.append(word) }
            entry = entry?.advanced(by: 1)
        }
        return words
    }

    enum Read {
        case bytes(ArraySlice<UInt8>)
        case nothing
        case end
    }

    /// Reads once, without waiting.
    func read(_ descriptor: Int32, into chunk: inout [UInt8]) -> Read {
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count > 0 { return .bytes(chunk[..<count]) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .nothing }
            if errno != EINTR { return .end }
        }
    }

    /// Writes once, without waiting.
    ///
    /// - Returns: how many bytes it took; nil when nobody will ever read them.
    func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let input else { return nil }
        while true {
            let count = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { return nil }
        }
    }

    func closeInput() {
        if let input { close(input) }
        input = nil
    }

    func closeOutput() {
        if let output { close(output) }
        output = nil
    }

    func closeErrors() {
        if let errors { close(errors) }
        errors = nil
    }

    private func closePipes() {
        closeInput()
        closeOutput()
        closeErrors()
    }

    /// Takes its exit status, if it has ended.
    func reap() -> Bool {
        if status != nil { return true }
        var status: Int32 = 0
        let result = probe_reap(pid, &status)
        if result == 0 { return false }
        self.status = result < 0 ? -1 : status
        return true
    }

    /// Ends it and everything that it started. Returns when they are gone.
    func end() {
        closePipes()
        kill(-pid, SIGKILL)
        if status == nil {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            self.status = status
        }
        // The rest of its group has lost its parent, and is this process's to reap where it is their subreaper.
        while waitpid(-pid, nil, 0) > 0 || errno == EINTR {}
        // Those that left the group lost their parent and are this process's children now.
        for _ in 0..<16 where Leftovers.kill(markedWith: marker) == 0 { break }
        Leftovers.ended(pid)
    }

    /// `exit status 3`, `signal KILL`.
    static func describe(status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "exit status \(status >> 8 & 0xff)" }
        guard let name = probe_signal_name(signal) else { return "signal \(signal)" }
        return "signal \(String(cString: name))"
    }
}

/// Both ends of a pipe.
private struct Ends {
    var read: Int32
    var write: Int32

    init() throws(ProbeSockets.SystemError) {
        var ends: [Int32] = [0, 0]
        if probe_pipe(&ends) < 0 { throw ProbeSockets.SystemError("pipe2") }
        (read, write) = (ends[0], ends[1])
    }

    static func three() throws(ProbeSockets.SystemError) -> [Ends] {
        var pipes: [Ends] = []
        do throws(ProbeSockets.SystemError) {
            for _ in 0..<3 { pipes.append(try Ends()) }
        } catch {
            for pipe in pipes {
                close(pipe.read)
                close(pipe.write)
            }
            throw error
        }
        return pipes
    }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}
