import ProbeBase
import Glibc
import ProbeWire

/// A buffer that allows standard output to be written in large pieces.
final class OutputBuffer {
    private var bytes: [UInt8] = []
    private static let size = 1 << 16

    func write(_ text: String) {
        bytes.append(text: text)
        if bytes.count >= Self.size { flush() }
    }

    /// Appends UTF-8 text.
    func write(_ text: [UInt8]) {
        // A large text is written directly, because buffering it would save nothing.
        if text.count >= Self.size {
            flush()
            Console.standardOutput.write(text)
        } else {
            bytes += text
            if bytes.count >= Self.size { flush() }
        }
    }

    func flush() {
        guard !bytes.isEmpty else { return }
        Console.standardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Reports an error if output could not be written, for example because the disk is full. A reader that has closed
    /// its end is not considered a failure.
    ///
    /// - Returns: whether output was lost.
    func reportFailure() -> Bool {
        guard let code = Console.standardOutput.failure else { return false }
        Console.standardError.write("error: standard output can't be written: \(String(cString: strerror(code)))\n")
        return true
    }
}
