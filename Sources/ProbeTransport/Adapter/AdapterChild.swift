import CShims
import Glibc
import ProbeSystem

/// The program of an adapter: its pipes and its process group. Confined to the thread that serves it.
final class AdapterChild {
    private let program: GuardedProgram
    private(set) var input: Int32?
    private(set) var output: Int32?
    private(set) var errors: Int32?
    /// As `waitpid` gives it; nil while it runs.
    private(set) var status: Int32?
    /// In the environment of all that it starts, so that those which leave its group are found as well.
    private let marker: String

    init(path: String, words: [String], marker: String) throws(SystemError) {
        self.marker = marker
        let streams: GuardedProgram.Streams
        (program, streams) = try GuardedProgram.start(
            path: path, words: words, environment: AdapterChild.environment(marker), directory: ".")
        (input, output, errors) = streams
    }

    deinit { closePipes() }

    /// Readable when it has ended.
    var descriptor: Int32 { program.descriptor }

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
        switch program.next() {
        case .exit(let status, _)?: self.status = status
        // It dies with its guard.
        case .lost?: status = SIGKILL
        case .gone?, nil: return false
        }
        return true
    }

    /// Ends it and everything that it started. Returns when they are gone.
    func end() {
        closePipes()
        let (status, isDone) = program.endAndWait()
        if self.status == nil { self.status = status ?? SIGKILL }
        // The guard was killed: the guardian ends the rest, and this finds it by its mark.
        if !isDone { for _ in 0..<16 where ResourceTracker.kill(markedWith: marker) == 0 { break } }
    }

    /// `exit status 3`, `signal KILL`.
    static func describe(status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "exit status \(status >> 8 & 0xff)" }
        guard let name = probe_signal_name(signal) else { return "signal \(signal)" }
        return "signal \(String(cString: name))"
    }
}
