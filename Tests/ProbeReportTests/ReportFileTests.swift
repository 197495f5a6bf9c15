import Foundation
import ProbeEvents
import ProbeReport
import Testing

@Suite struct ReportFileTests {
    private func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tcpprobe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // If the removal fails, the test's folder remains in the system's temporary folder, which is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
    }

    @Test func fileAppearsWhenFinished() throws {
        try inFolder { folder in
            let path = folder.appending(path: "report.json").path()
            try Data("of the run before".utf8).write(to: URL(filePath: path))
            let file = try ReportFile(path)
            #expect(!FileManager.default.fileExists(atPath: path))
            try file.append(Array("one\n".utf8))
            try file.append(Array("two\n".utf8))
            #expect(!FileManager.default.fileExists(atPath: path))
            try file.finish()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\n")
            #expect(try names(folder) == ["report.json"])
            try file.finish()
            #expect(throws: ReportFileError.self) { try file.append([1]) }
        }
    }

    /// The permissions are kept even if the file was removed before the report was opened.
    @Test(arguments: [false, true])
    func permissionsOfTheReplacedFileAreKept(_ isRemovedFirst: Bool) throws {
        try inFolder { folder in
            let path = folder.appending(path: "report.json").path()
            let manager = FileManager.default
            try Data("old".utf8).write(to: URL(filePath: path))
            try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            if isRemovedFirst {
                let old = try FileHandle(forReadingFrom: URL(filePath: path))
                ReportFile.remove(path, openedAs: old.fileDescriptor)
                #expect(!manager.fileExists(atPath: path))
            }
            let file = try ReportFile(path)
            try file.append(Array("new".utf8))
            try file.finish()
            let mode = try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o640)
        }
    }

    @Test func unfinishedFileLeavesNothing() throws {
        try inFolder { folder in
            do {
                let file = try ReportFile(folder.appending(path: "report.tap").path())
                try file.append(Array("TAP".utf8))
                #expect(try names(folder).count == 1)
            }
            #expect(try names(folder) == [])
        }
    }

    @Test func symbolicLinksAreKept() throws {
        try inFolder { folder in
            let (real, link) = (folder.appending(path: "real"), folder.appending(path: "link"))
            try Data().write(to: real)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
            let file = try ReportFile(link.path())
            try file.append(Array("x".utf8))
            try file.finish()
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path()) == real.path())
            #expect(try String(contentsOf: real, encoding: .utf8) == "x")
        }
    }

    @Test func devicesAreWrittenDirectly() throws {
        let file = try ReportFile("/dev/null")
        try file.append(Array("x".utf8))
        try file.finish()
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
    }

    @Test func errorsNameTheirCause() throws {
        try inFolder { folder in
            let missing = folder.appending(path: "none/report.xml").path()
            let error = #expect(throws: ReportFileError.self) { _ = try ReportFile(missing) }
            #expect(error?.description == "the report \(missing) can't be written: No such file or directory")
            #expect(throws: ReportFileError(path: folder.path(), code: EISDIR)) { _ = try ReportFile(folder.path()) }
        }
    }

    @Test func twoReportsNeverShareAFile() throws {
        try inFolder { folder in
            let path = folder.appending(path: "a").path()
            let first = try ReportFile(path)
            #expect(throws: ReportFileError(path: "\(folder.path())/./a", code: EBUSY)) {
                _ = try ReportFile("\(folder.path())/./a")
            }
            try first.finish()
            try ReportFile(path).finish()
            #expect(try names(folder) == ["a"])
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
    func fullDiskIsReported() throws {
        let file = try ReportFile("/dev/full")
        #expect(throws: ReportFileError(path: "/dev/full", code: ENOSPC)) { try file.append([1]) }
    }
}
