import Glibc
import Testing

@testable import ProbeSystem

/// Only the requested file is written, whatever another user puts into its folder.
struct OutputFileTests {
    private static let text = Array("new".utf8)

    @Test func aNameBesideAFileIsNeverTheSame() throws {
        let temporary = try ScratchFolder()
        let folder = try Folder(temporary.path)
        var seen: Set<String> = []
        for _ in 0..<100 {
            let file = try ReplacementFile("a", in: folder)
            try file.write(Self.text)
            let name = try #require(temporary.names.first)
            #expect(temporary.names.count == 1 && name.count > 20)
            #expect(seen.insert(name).inserted)
        }
        #expect(temporary.names == [])
    }

    /// A program of the run may do so by renaming.
    @Test func aFolderThatIsExchangedIsNotFollowed() throws {
        let temporary = try ScratchFolder()
        let out = try temporary.folder("out")
        let elsewhere = try temporary.folder("elsewhere")
        let folder = try Folder(out)
        var file = try ReplacementFile("a", in: folder)
        try #require(rename(out, "\(temporary.path)/moved") == 0)
        _ = try temporary.link("out", to: elsewhere)
        try file.write(Self.text)
        try file.finish()
        try folder.replace("b", with: Self.text)
        #expect(SmallFile.names(in: elsewhere) == [])
        #expect(temporary.read("moved/a") == "new" && temporary.read("moved/b") == "new")
    }

    /// The file replaces the last component of the path; a link there is not written through.
    @Test(arguments: ["symbolic link", "hard link", "pipe"])
    func whatIsThereIsReplaced(_ kind: String) throws {
        let temporary = try ScratchFolder()
        let victim = try temporary.write("victim", "kept")
        let path = "\(temporary.path)/a"
        switch kind {
        case "symbolic link": try #require(symlink(victim, path) == 0)
        case "hard link": try #require(link(victim, path) == 0)
        default: try #require(mkfifo(path, 0o600) == 0)
        }
        try Folder(temporary.path).replace("a", with: Self.text)
        #expect(temporary.read("a") == "new" && temporary.read("victim") == "kept")
    }

    @Test func permissionsAndLinksOfAFileThatIsRewrittenStay() throws {
        let temporary = try ScratchFolder()
        let real = try temporary.write("real", "old")
        chmod(real, 0o640)
        let path = try temporary.link("link", to: "real")
        try SmallFile.rewrite(path, with: Self.text)
        #expect(temporary.read("real") == "new")
        #expect(FileStatus(at: real).map { $0.mode & 0o7777 } == 0o640)
        #expect(SmallFile.linkTarget(path) == "real")
        #expect(temporary.names == ["link", "real"])
    }

    /// The kernel has the same rule for links in `/tmp`; resolving the name first would circumvent it.
    @Test(.enabled(if: geteuid() == 0, "only root can give a link to another user"))
    func aLinkOfAnotherUserIsNotFollowed() throws {
        let temporary = try ScratchFolder()
        let victim = try temporary.write("victim", "kept")
        let shared = try temporary.folder("shared")
        let path = try temporary.link("shared/report", to: victim)
        chmod(shared, 0o1777)
        try #require(lchown(path, 65534, 65534) == 0)
        let error = #expect(throws: SystemError.self) { _ = try FilePlace(path) }
        #expect(error?.reason == "it is a symbolic link of another user, which is not followed")
        // In a folder that others can't write to, its owner made the link.
        chmod(shared, 0o755)
        #expect(try FilePlace(path).name == "victim")
    }

    @Test(arguments: ["", "/", ".", "..", "a/", "a/.", "a/.."])
    func pathsWithoutANameAreRefused(_ path: String) {
        #expect(throws: SystemError.self) { _ = try FilePlace(path) }
    }

    @Test func aLinkToItselfEnds() throws {
        let temporary = try ScratchFolder()
        let path = try temporary.link("a", to: "a")
        #expect(throws: SystemError("open", code: ELOOP)) { _ = try FilePlace(path) }
    }

    @Test func devicesAndPipesAreWrittenDirectly() throws {
        if try DirectOutput.open("/dev/null") == nil { Issue.record("/dev/null is no file that can be replaced") }
        let temporary = try ScratchFolder()
        for path in ["\(temporary.path)/none", try temporary.write("file", "")] {
            if try DirectOutput.open(path) != nil { Issue.record("\(path) can be replaced") }
        }
        let path = temporary.path
        #expect(throws: SystemError("open", code: EISDIR)) { if try DirectOutput.open(path) != nil {} }
        let pipe = "\(temporary.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        if let output = try DirectOutput.open(pipe) { try output.write(Self.text) }
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &bytes, 8) == 3)
    }
}
