import Glibc
import ProbeSystem

/// Wireshark's command-line program, which can decrypt every TLS version with its secrets.
struct Tshark {
    private let path: String

    /// Finds the program; `nil` if it is not installed.
    init?() {
        guard let path = ExecutableSearch.find("tshark") else { return nil }
        self.path = path
    }

    static let advice =
        "requires tshark, which is not installed: run `apt-get install tshark` on Debian and Ubuntu, `dnf install wireshark-cli` on Fedora"

    /// Returns the arguments about a file that all runs share.
    static func arguments(_ path: String, keyLog: String?) -> [String] {
        ["-n", "-r", path] + (keyLog.map { ["-o", "tls.keylog_file:\($0)"] } ?? [])
    }

    /// Returns tshark's own number of a flow, which may differ from this tool's.
    ///
    /// - Parameter frame: the number of one of the flow's packets, from 1.
    /// - Returns: the number; `nil` if tshark can't read the file.
    func stream(ofFrame frame: Int, _ arguments: [String]) -> Int? {
        var number: Int?
        let found = run(arguments + ["-Y", "frame.number == \(frame)", "-T", "fields", "-e", "tcp.stream"]) {
            number = number ?? Int(String(decoding: $0, as: UTF8.self))
        }
        return found == 0 ? number : nil
    }

    /// Runs tshark and passes on each line of its output, without the line end.
    ///
    /// - Returns: the exit status; `nil` if tshark could not be started or was killed by a signal.
    func run(_ arguments: [String], line: ([UInt8]) -> Void) -> Int32? {
        // Its own remarks (who runs it, how many packets) are not part of the output.
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
