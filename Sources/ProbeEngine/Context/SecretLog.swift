import ProbeBase
import ProbeEvents
import ProbeSystem

/// The secrets of a case's TLS connections, as lines of an NSS key log, without duplicates and in the order of arrival.
/// They are stored in the case's capture, so that other programs can decrypt the capture.
struct SecretLog {
    private(set) var lines: [String] = []
    /// The number of lines that were dropped for lack of space.
    private(set) var leftOut = 0
    private var known: Set<String> = []
    private var size = 0
    /// The folder for the secrets that programs write; created when the first program needs a file in it.
    private(set) var folder: String?
    private var files: [String] = []

    /// The maximum size of the key log in bytes. A capture file stores the key log in a single block, and tcpprobe's
    /// reader rejects blocks above 16 MiB.
    private static let largestLog = 8 << 20
    private static let largestFile = 1 << 20

    /// Adds a line of a key log, which is given without its terminator. A line that isn't a key log entry, such as a
    /// comment, is ignored.
    mutating func add(_ line: String) {
        guard Self.isWellFormed(line.utf8), !known.contains(line) else { return }
        guard size + line.utf8.count < Self.largestLog else {
            leftOut += 1
            return
        }
        size += line.utf8.count + 1
        known.insert(line)
        lines.append(line)
    }

    mutating func add(contentsOf lines: some Sequence<String>) {
        for line in lines { add(line) }
    }

    /// Adds the lines of a key log that a program has written. The last line may be incomplete.
    mutating func add(file bytes: [UInt8]) {
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            // Well-formed lines consist of ASCII only, so decoding them can't fail.
            if Self.isWellFormed(line) { add(String(decoding: line, as: UTF8.self)) }
        }
    }

    /// The key log as stored in a capture; empty if the log has no lines.
    var keyLog: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for line in lines {
            bytes += line.utf8
            bytes.append(0x0a)
        }
        return bytes
    }

    /// Returns whether a line has the form `LABEL <hex> <hex>`, with single spaces.
    private static func isWellFormed(_ line: some Collection<UInt8>) -> Bool {
        let fields = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard fields.count == 3, !fields[0].isEmpty else { return false }
        let isLabel = fields[0].allSatisfy { 0x41...0x5a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x5f }
        return isLabel
            && fields[1...].allSatisfy { !$0.isEmpty && $0.count % 2 == 0 && $0.allSatisfy(Self.isHexadecimal) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x46 ~= byte || 0x61...0x66 ~= byte
    }

    // MARK: Files of programs

    /// Returns the path of the file for the secrets of a program that is about to start. Each program gets a separate
    /// file, because some programs overwrite an existing file.
    mutating func fileForProgram() throws(Finding) -> String {
        let made: String
        if let folder { made = folder } else { made = try TemporaryFolder.make() }
        folder = made
        let path = "\(made)/\(files.count + 1).keys"
        files.append(path)
        return path
    }

    /// Reads the files to which programs have written their TLS secrets. The programs must have ended.
    mutating func readFiles() {
        for path in files {
            if let bytes = SmallFile.foreign(path, limit: Self.largestFile) { add(file: bytes) }
        }
        files = []
    }
}
