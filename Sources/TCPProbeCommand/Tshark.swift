import Glibc
import ProbeSystem

/// The command-line version of Wireshark, which can decrypt all versions of TLS if it has the secrets.
struct Tshark {
    private let path: String

    /// Searches for `tshark`; `nil` if it is not installed.
    init?() {
        guard let path = ExecutableSearch.find("tshark") else { return nil }
        self.path = path
    }

    static let advice =
        "requires tshark, which is not installed: run `apt-get install tshark` on Debian and Ubuntu, `dnf install wireshark-cli` on Fedora"

    /// Returns the arguments, common to all uses of `tshark`, for reading a file.
    static func arguments(_ path: String, keyLog: String?) -> [String] {
        ["-n", "-r", path] + (keyLog.map { ["-o", "tls.keylog_file:\($0)"] } ?? [])
    }

    /// Returns the number that tshark assigns to a flow. This tool may assign a different number to the flow.
    ///
    /// - Parameter frame: the number of one of the flow's packets, starting at 1.
    /// - Returns: the number; `nil` if tshark can't read the file.
    func stream(ofFrame frame: Int, _ arguments: [String]) -> Int? {
        var number: Int?
        let found = run(arguments + ["-Y", "frame.number == \(frame)", "-T", "fields", "-e", "tcp.stream"]) {
            number = number ?? Int(String(decoding: $0, as: UTF8.self))
        }
        return found == 0 ? number : nil
    }

    /// Runs tshark, and passes each line of its output to `line`, without the line terminator.
    ///
    /// - Returns: the exit status; `nil` if tshark could not be started or was killed by a signal.
    func run(_ arguments: [String], line: ([UInt8]) -> Void) -> Int32? {
        // tshark's own messages on stderr are discarded.
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
