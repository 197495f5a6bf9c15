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

    static let advice =
        "needs tshark, which is not installed: `apt-get install tshark` on Debian and Ubuntu, `dnf install wireshark-cli` on Fedora"

    /// What it is told about a file in all runs.
    static func arguments(_ path: String, keyLog: String?) -> [String] {
        ["-n", "-r", path] + (keyLog.map { ["-o", "tls.keylog_file:\($0)"] } ?? [])
    }

    /// tshark's own number of a flow, which may be another one.
    ///
    /// - Parameter frame: one of the flow's packets, from 1.
    /// - Returns: nil if it can't read the file.
    func stream(ofFrame frame: Int, _ arguments: [String]) -> Int? {
        var number: Int?
        let found = run(arguments + ["-Y", "frame.number == \(frame)", "-T", "fields", "-e", "tcp.stream"]) {
            number = number ?? Int(String(decoding: $0, as: UTF8.self))
        }
        return found == 0 ? number : nil
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
