import Glibc
import ProbeInspect
import ProbeWire
import Testing

/// A temporary folder that is removed when the value is destroyed.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/tcpprobe-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var names: [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = try #require(fopen("\(path)/\(name)", "wb"))
        defer { fclose(file) }
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        return "\(path)/\(name)"
    }

    func read(_ name: String) throws -> [UInt8] {
        let file = try #require(fopen("\(path)/\(name)", "rb"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}

/// An output that collects the text written to it.
final class Collected {
    private(set) var text = ""
    var output: TextOutput { { self.text += $0 } }
}

/// Reads a capture whose bytes are in memory.
func inspect(
    _ bytes: [UInt8], limits: ConversationLimits = .passing, filter: ConnectionFilter = ConnectionFilter(),
    observer: (any InspectionObserver)? = nil, accepts: PacketPredicate? = nil,
    chunkSize: Int = CaptureSource.chunkSize
) throws -> Inspection {
    let folder = try TemporaryFolder()
    let path = try folder.write("capture", bytes)
    return Inspection.of(
        try CaptureSource(path: path, chunkSize: chunkSize), limits: limits, filter: filter, observer: observer,
        accepts: accepts)
}

/// Returns a source that reads a capture from a pipe, which can't be read twice. The capture must fit into the pipe's
/// buffer.
func piped(_ bytes: [UInt8]) throws -> CaptureSource {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    // The number 1031 is F_SETPIPE_SZ, which the Glibc module does not define.
    try #require(fcntl(ends[1], 1031, 1 << 20) >= bytes.count)
    try #require(write(ends[1], bytes, bytes.count) == bytes.count)
    return try CaptureSource(path: "/proc/self/fd/\(ends[0])")
}
