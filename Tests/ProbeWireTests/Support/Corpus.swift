import Glibc
import ProbeWire

/// Captures for tests that read whole files. Generated captures are always available. Captures from other projects,
/// with the results of other tools, are available if they are in a folder next to the project or in the folder that
/// `TCPPROBE_CORPUS` names.
enum Corpus {
    /// The generated captures, which are always available, by name.
    private static let generated: [String: [UInt8]] = Dictionary(
        uniqueKeysWithValues: (1...6 as ClosedRange<UInt64>).map { seed in
            var traffic = RandomTraffic(seed: seed * 15_485_863, connections: 1 + Int(seed) * 2)
            return ("generated-\(seed).pcap", RandomTraffic.pcap(traffic.packets(100 * Int(seed))))
        })

    /// The names of all captures, each of which can be passed to ``bytes(_:)``.
    static var names: [String] { generated.keys.sorted() + table("MANIFEST.tsv").map(\.[0]) }

    static let folder: String? = {
        var candidates: [String] = []
        if let named = getenv("TCPPROBE_CORPUS") { candidates.append(String(cString: named)) }
        candidates += ["../shared/corpus", "shared/corpus"]
        return candidates.first { access($0 + "/ORACLE.tsv", R_OK) == 0 }
    }()

    /// Whether the folder of captures that were once read incorrectly is next to the corpus.
    static var hasCases: Bool { folder.map { access($0 + "/../cases/captures", R_OK) == 0 } ?? false }

    static func bytes(_ name: String) -> [UInt8] {
        if let bytes = generated[name] { return bytes }
        guard let folder, let file = fopen(folder + "/" + name, "rb") else { return [] }
        defer { fclose(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { content += buffer[..<count] }
        return content
    }

    static func table(_ name: String) -> [[String]] {
        String(decoding: bytes(name), as: UTF8.self).split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }
}

/// A capture file that was read and analyzed completely.
struct ReadFile {
    var reader = CaptureFileReader()
    var analysis = CaptureAnalysis()
    var records: [CaptureRecord] = []
    var packets: [[UInt8]] = []
    var error: CaptureFileError?

    /// Reads and analyzes the bytes of a file, `chunk` bytes at a time.
    init(_ bytes: [UInt8], chunk: Int = 1 << 16) {
        var analysis = analysis
        var records: [CaptureRecord] = []
        var packets: [[UInt8]] = []
        do throws(CaptureFileError) {
            for start in stride(from: 0, to: bytes.count, by: chunk) {
                try reader.feed(bytes.span.extracting(start..<min(start + chunk, bytes.count))) { record, content in
                    records.append(record)
                    packets.append((0..<content.count).map { content[$0] })
                    analysis.add(
                        content, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                        index: record.index)
                }
            }
            try reader.finish()
        } catch {
            self.error = error
        }
        analysis.finish()
        self.analysis = analysis
        self.records = records
        self.packets = packets
    }
}
