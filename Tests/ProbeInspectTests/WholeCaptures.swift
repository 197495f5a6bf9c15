import Glibc
import Testing

/// Captures for tests that read whole files. Generated captures are always available. Captures from other projects are
/// available if they are in a folder next to the project or in the folder that `TCPPROBE_CORPUS` names.
enum WholeCaptures {
    enum File: Sendable, CustomTestStringConvertible {
        case generated(seed: UInt64)
        case other(path: String)

        var testDescription: String {
            switch self {
            case .generated(let seed): "generated from seed \(seed)"
            case .other(let path): path
            }
        }

        /// Returns the path of the capture. A generated capture is first written to the folder.
        func path(in folder: borrowing TemporaryFolder) throws -> String {
            switch self {
            case .generated(let seed):
                try folder.write("generated.pcap", RandomCapture(seed: seed, segments: 200 * Int(seed)).bytes)
            case .other(let path): path
            }
        }
    }

    static let all: [File] = (1...5 as ClosedRange<UInt64>).map { .generated(seed: $0) } + others

    private static var others: [File] {
        let named = getenv("TCPPROBE_CORPUS").map { String(cString: $0) }
        let folder = [named, "../shared/corpus"].compactMap(\.self).first { access($0 + "/ORACLE.tsv", R_OK) == 0 }
        guard let folder, let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }.sorted().map {
            .other(path: "\(folder)/\($0)")
        }
    }
}
