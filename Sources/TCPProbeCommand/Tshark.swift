import Glibc
import ProbeSystem

/// Wireshark's program for the command line, which knows the secrets' use of every TLS version.
struct Tshark {
    private let path: String

    /// nil where it is not installed.
    init?() {
        guard let path = ExecutableSearch.find("tshark") else { return nil }
        self.path = path
    }

    /// Runs it and hands out each line of its output, without its end.
    ///
    /// - Returns: its exit status; nil if it could not be started or did not exit by itself.
    func run(_ arguments: [String], line: ([UInt8]) -> Void) -> Int32? {
        // What it says of its own (who runs it, how many packets) is no part of the output.
        let command = ([path] + arguments).map(ShellWord.quoted).joined(separator: " ") + " 2>/dev/null </dev/null"
        guard let pipe = popen(command, "re") else { return nil }
        var buffer: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while case let count = getline(&buffer, &capacity, pipe), count >= 0, let start = buffer {
            var bytes = start.withMemoryRebound(to: UInt8.self, capacity: count) {
                Array(UnsafeBufferPointer(start: $0, count: count))
            }
            if bytes.last == 0x0a { bytes.removeLast() }
            line(bytes)
        }
        free(buffer)
        let status = pclose(pipe)
        return status >= 0 && status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }
}
