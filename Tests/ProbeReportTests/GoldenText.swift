import Foundation
import Testing

/// Reviewed texts that must not change: `TCPPROBE_RENEW=1 swift test` renews them, and the diff must be reviewed.
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

    /// Returns the text of a file in the repository.
    static func repositoryFile(_ path: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(path)").standardized.path()
    }
}
