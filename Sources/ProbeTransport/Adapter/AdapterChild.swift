import CShims
import Glibc
import ProbeSystem

/// An adapter's running program: its pipes and its process group. Confined to the thread that serves the program.
final class AdapterChild {
    private let program: GuardedProgram
    private(set) var input: Int32?
    private(set) var output: Int32?
    private(set) var errors: Int32?
    /// The exit status in the encoding of `waitpid`; `nil` while the program runs.
    private(set) var status: Int32?
    /// The marker in the program's environment, by which descendants that have left the process group are found.
    private let marker: String

    init(path: String, words: [String], marker: String, in place: ProgramPlace?) throws(SystemError) {
        self.marker = marker
        let streams: GuardedProgram.Streams
        (program, streams) = try GuardedProgram.start(
            path: path, words: words, environment: AdapterChild.environment(marker), directory: ".",
            in: place)
        (input, output, errors) = streams
    }

    deinit { closePipes() }

    /// A descriptor that becomes readable when the program has ended.
    var descriptor: Int32 { program.descriptor }

    /// The program and every process that it has started.
    var processes: ProcessTree { program.processes }

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

    /// Reads once from a pipe, without waiting.
    func read(_ descriptor: Int32, into chunk: inout [UInt8]) -> Read {
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count > 0 { return .bytes(chunk[..<count]) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .nothing }
            if errno != EINTR { return .end }
        }
    }

    /// Writes once to the program's stdin, without waiting.
    ///
    /// - Returns: the number of bytes written; `nil` if the program has closed its stdin.
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

    /// Collects the program's exit status if the program has ended. Returns whether the program has ended.
    func reap() -> Bool {
        if status != nil { return true }
        switch program.next() {
        case .exit(let status, _)?: self.status = status
        // The program's guard was killed, so the kernel also kills the program.
        case .lost?: status = SIGKILL
        case .gone?, nil: return false
        }
        return true
    }

    /// Ends the program and all its descendants, and returns when they have ended.
    func end() {
        closePipes()
        let (status, isDone) = program.endAndWait()
        if self.status == nil { self.status = status ?? SIGKILL }
        // The program's guard was killed. The guardian, which is the guard's parent process, ends most descendants; the
        // remaining descendants are found by the marker, and are then killed.
        if !isDone { for _ in 0..<16 where ResourceTracker.kill(markedWith: marker) == 0 { break } }
    }

    /// Returns a description of an exit status, as a predicate: `exited with status 3` or `was killed by SIGKILL`.
    static func describe(status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "exited with status \(status >> 8 & 0xff)" }
        guard let name = probe_signal_name(signal) else { return "was killed by signal \(signal)" }
        return "was killed by SIG\(String(cString: name))"
    }
}
