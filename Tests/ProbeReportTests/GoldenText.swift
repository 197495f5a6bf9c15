import Foundation
import Testing

/// Compares text with reviewed files. `TCPPROBE_RENEW=1 swift test` updates the files; their changes must be reviewed.
enum GoldenText {
    static func check(_ text: String, _ name: String, _ location: SourceLocation = #_sourceLocation) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
        if ProcessInfo.processInfo.environment["TCPPROBE_RENEW"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        let golden = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        #expect(text == golden, "the text differs from Golden/\(name)", sourceLocation: location)
    }

    /// Returns the path of a file in the repository.
    static func repositoryFile(_ path: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(path)").standardized.path()
    }
}
