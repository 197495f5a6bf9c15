import ProbeBase
import Glibc
import ProbeInspect
import ProbeSystem
import ProbeWire
import Testing

/// Tests that streams delivered in parts are the same as streams that are kept entirely in memory.
@Suite struct StreamTests {
    @Test(arguments: WholeCaptures.all)
    func deliveredStreamsMatchKeptStreams(file: WholeCaptures.File) throws {
        let folder = try TemporaryFolder()
        let path = try file.path(in: folder)
        let kept = Inspection.of(try CaptureSource(path: path), limits: .live)
        let joined = JoinedStreams()
        let passed = Inspection.of(
            try CaptureSource(path: path, chunkSize: 1000), limits: .deliveringParts, observer: joined)
        #expect(passed.packetCount == kept.packetCount && passed.problem == kept.problem)
        for conversation in kept.analysis.table.conversations {
            for side in ConversationSide.allCases {
                let stream = conversation.halfConnection(from: side).stream
                let key = "\(conversation.number) \(side)"
                #expect(joined.bytes[key, default: []] == stream.bytes)
                #expect(joined.gaps[key, default: []] == stream.gaps)
            }
        }
    }

    @Test func extractedFilesReplaceOldOnes() throws {
        let folder = try TemporaryFolder()
        // The extractor must replace an existing file.
        _ = try folder.write("flow-0-client.bin", Array("old".utf8))
        let extractor = StreamExtractor(folder: try Folder(folder.path), path: folder.path)
        _ = try inspect(CaptureBuilder.troubled, limits: .deliveringParts, observer: extractor)
        #expect(extractor.failure == nil)
        #expect(folder.names == ["flow-0-client.bin", "flow-0-client.gaps.txt"])
        #expect(try folder.read("flow-0-client.bin") == Array("GET \u{1b}[31m\ntail\r\n".utf8))
        #expect(
            String(decoding: try folder.read("flow-0-client.gaps.txt"), as: UTF8.self)
                == "# offset in the stream, missing bytes, offset in the file, reason\n10\t5\t10\tmissing from the capture\n"
        )
        #expect(extractor.fileCount == 1 && extractor.byteCount == 16 && extractor.gapCount == 1)
    }

    @Test func extractIntoAMissingFolderFails() throws {
        let folder = try TemporaryFolder()
        let extractor = StreamExtractor(folder: try Folder(folder.path), path: "shown")
        rmdir(folder.path)
        _ = try inspect(CaptureBuilder.greeting, limits: .deliveringParts, observer: extractor)
        #expect(extractor.failure?.path == "shown/flow-0-client.bin")
        #expect(extractor.failure?.reason == "No such file or directory")
    }

    /// If another process has placed a link or a pipe at the path of a file, the extractor removes the link or pipe and
    /// does not write through it.
    @Test(arguments: ["symbolic link", "hard link", "pipe"])
    func extractDoesNotWriteThroughLinks(_ kind: String) throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        let victim = try elsewhere.write("victim", Array("kept".utf8))
        for name in ["flow-0-client.bin", "flow-0-server.bin", "flow-0-client.gaps.txt"] {
            let path = "\(folder.path)/\(name)"
            switch kind {
            case "symbolic link": try #require(symlink(victim, path) == 0)
            case "hard link": try #require(link(victim, path) == 0)
            default: try #require(mkfifo(path, 0o600) == 0)
            }
        }
        let extractor = StreamExtractor(folder: try Folder(folder.path), path: folder.path)
        _ = try inspect(CaptureBuilder.troubled, limits: .deliveringParts, observer: extractor)
        #expect(extractor.failure == nil)
        #expect(try elsewhere.read("victim") == Array("kept".utf8))
        #expect(try folder.read("flow-0-client.bin") == Array("GET \u{1b}[31m\ntail\r\n".utf8))
    }

    /// Large streams are written in order through a buffer of limited size.
    @Test func largeStreamsAreExtractedInOrder() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        var expected: [UInt8] = []
        capture.open(connection)
        for number in 0..<40 {
            let text = String(repeating: String(number % 10), count: 20_000)
            capture.send(&connection, .client, text)
            expected += Array(text.utf8)
        }
        let folder = try TemporaryFolder()
        _ = try inspect(
            capture.bytes, limits: .deliveringParts,
            observer: StreamExtractor(folder: try Folder(folder.path), path: folder.path))
        #expect(try folder.read("flow-0-client.bin") == expected)
    }

    @Test func filterSelectsConnections() throws {
        let inspection = try inspect(CaptureBuilder.troubled)
        func numbers(_ filter: ConnectionFilter) -> [Int] { inspection.reports(filter).map(\.number) }
        #expect(numbers(ConnectionFilter()) == [0, 1])
        #expect(numbers(ConnectionFilter(number: 1)) == [1])
        #expect(numbers(ConnectionFilter(ports: [81, 9])) == [1])
        #expect(numbers(ConnectionFilter(ports: [40_001])) == [0])
        #expect(numbers(ConnectionFilter(hosts: [.loopbackV4])) == [0, 1])
        #expect(numbers(ConnectionFilter(hosts: [.loopbackV6])) == [])
        #expect(ConnectionFilter(number: 7, ports: [80]).text == "flow 7, port 80")
    }
}
