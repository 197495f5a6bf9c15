import Glibc
import Testing

@testable import ProbeEngine

struct SecretLogTests {
    @Test func eachLineIsKeptOnceInOrder() {
        var log = SecretLog()
        #expect(log.keyLog.isEmpty)
        log.add("CLIENT_RANDOM 0a0B ff")
        log.add(contentsOf: ["B 00 01", "CLIENT_RANDOM 0a0B ff", "A 00 01"])
        #expect(log.lines == ["CLIENT_RANDOM 0a0B ff", "B 00 01", "A 00 01"])
        #expect(String(decoding: log.keyLog, as: UTF8.self) == "CLIENT_RANDOM 0a0B ff\nB 00 01\nA 00 01\n")
    }

    @Test(arguments: [
        "", "# a comment", "LABEL", "LABEL 00", "LABEL 00 ", "LABEL  00 01", " LABEL 00 01", "LABEL 00 01 02",
        "LABEL 0 01", "LABEL 00 0g",
        "label 00 01", "LÄBEL 00 01", "LABEL 00 01\n", "LABEL\t00 01",
    ])
    func invalidLinesAreIgnored(line: String) {
        var log = SecretLog()
        log.add(line)
        #expect(log.lines.isEmpty)
    }

    @Test func eachProgramHasItsOwnFile() throws {
        var log = SecretLog()
        #expect(log.folder == nil)
        let paths = try (0..<4).map { _ in try log.fileForProgram() }
        let folder = try #require(log.folder)
        defer {
            for path in paths { unlink(path) }
            rmdir(folder)
        }
        #expect(Set(paths).count == 4 && paths.allSatisfy { $0.hasPrefix(folder + "/") })
        // The file at the first path is missing, the second is a pipe, and the third is a symbolic link to the fourth.
        #expect(mkfifo(paths[1], 0o600) == 0 && symlink(paths[3], paths[2]) == 0)
        let descriptor = open(paths[3], O_CREAT | O_WRONLY, 0o600)
        let text = "# of a library\r\nA 00 01\r\n\nB 02 03\nA 00 01\n\u{0}\u{ff}\nC 0"
        #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
        log.readFiles()
        #expect(log.lines == ["A 00 01", "B 02 03"])
    }

    @Test func sizeIsBounded() {
        var log = SecretLog()
        let secret = String(repeating: "00", count: 500_000)
        for number in 10..<20 { log.add("A \(number) \(secret)") }
        #expect(log.lines.count == 8 && log.leftOut == 2)
        log.add("B 00 01")
        #expect(log.lines.count == 9)
    }
}
