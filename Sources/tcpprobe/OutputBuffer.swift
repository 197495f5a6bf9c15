import Glibc

/// Text for standard output, written in large pieces.
final class OutputBuffer {
    private var text = ""
    private static let size = 1 << 16

    func write(_ more: String) {
        text += more
        if text.utf8.count >= Self.size { flush() }
    }

    func flush() {
        guard !text.isEmpty else { return }
        Console.standardOutput.write(text)
        text = ""
    }

    /// Standard output could not be written (a full disk, say): says so. A reader that went away is no failure.
    func reportFailure() -> Bool {
        guard let code = Console.standardOutput.failure else { return false }
        Console.standardError.write("error: standard output can't be written: \(String(cString: strerror(code)))\n")
        return true
    }
}
