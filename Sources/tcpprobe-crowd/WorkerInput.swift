import Glibc
import ProbeBase

/// Reads JSON lines from stdin.
struct WorkerInput {
    private var bytes: [UInt8] = []
    private var searched = 0
    private(set) var hasEnded = false

    /// Reads the available bytes. Waits if there are none.
    mutating func read() {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
        if count > 0 {
            bytes += chunk[..<count]
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            hasEnded = true
        }
    }

    /// Removes and returns the next complete line, or `nil` if there is none. A line that is not valid JSON is returned
    /// as `JSONValue.null`.
    mutating func next() -> JSONValue? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            return nil
        }
        let line = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        searched = 0
        // The worker answers `null` like an unknown order.
        return (try? JSONParser.parse(line.span)) ?? .null
    }
}

/// Writes JSON lines to stdout.
enum WorkerOutput {
    static func write(_ value: JSONValue) {
        let line = value.encoded() + [UInt8(ascii: "\n")]
        var written = 0
        while written < line.count {
            let count = line.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress! + written, line.count - written)
            }
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return  // The reader has closed its end of the pipe.
            }
        }
    }
}
