import Glibc
import ProbeWire

/// Captures of other projects with what other readers make of them: a folder beside the project, or the one that
/// `TCPPROBE_CORPUS` names. Tests that need it are skipped where it is not there.
enum Corpus {
    static let folder: String? = {
        var candidates: [String] = []
        if let named = getenv("TCPPROBE_CORPUS") { candidates.append(String(cString: named)) }
        candidates += ["../shared/corpus", "shared/corpus"]
        return candidates.first { access($0 + "/ORACLE.tsv", R_OK) == 0 }
    }()

    /// Whether captures that once were read wrongly are beside the corpus.
    static var hasCases: Bool { folder.map { access($0 + "/../cases/captures", R_OK) == 0 } ?? false }

    static func bytes(_ name: String) -> [UInt8] {
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

/// A whole file, read and analysed.
struct ReadFile {
    var reader = CaptureFileReader()
    var analysis = CaptureAnalysis()
    var records: [CaptureRecord] = []
    var packets: [[UInt8]] = []
    var error: CaptureFileError?

    /// `chunk` is how many bytes are fed at a time.
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
