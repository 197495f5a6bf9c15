import Glibc
import Testing

@testable import ProbeSystem

/// Tests that only the requested file is written, whatever another user puts in its folder.
struct OutputFileTests {
    private static let text = Array("new".utf8)

    /// Returns the temporary name of the file `a`.
    private static func temporaryName() throws -> String {
        let scratch = try ScratchFolder()
        let file = try ReplacementFile("a", in: Folder(scratch.path))
        try file.write(text)
        return try #require(scratch.names.first)
    }

    @Test func concurrentWritersDoNotInterfere() throws {
        let scratch = try ScratchFolder()
        let folder = try Folder(scratch.path)
        var first = try ReplacementFile("a", in: folder)
        var second = try ReplacementFile("a", in: folder)
        #expect(scratch.names.count == 2)
        try second.write(Array("second".utf8))
        try first.write(Array("first".utf8))
        try second.finish()
        #expect(scratch.read("a") == "second")
        try first.finish()
        #expect(scratch.read("a") == "first" && scratch.names == ["a"])
    }

    @Test func fileOfAKilledProcessIsRemoved() throws {
        let scratch = try ScratchFolder()
        let name = try Self.temporaryName()
        _ = try scratch.write(name, "half a report")
        try Folder(scratch.path).replace("a", with: Self.text)
        #expect(scratch.read("a") == "new" && scratch.names == ["a"])
    }

    /// Only files that a killed process of this user may have left behind are removed.
    @Test(arguments: ["symbolic link", "folder", "pipe", "locked"])
    func otherFilesAreKept(_ kind: String) throws {
        let scratch = try ScratchFolder()
        let name = try Self.temporaryName()
        let path = "\(scratch.path)/\(name)"
        var locked: Int32 = -1
        defer { if locked >= 0 { close(locked) } }
        switch kind {
        case "symbolic link": _ = try scratch.link(name, to: scratch.write("victim", "kept"))
        case "folder": _ = try scratch.folder(name)
        case "pipe": try #require(mkfifo(path, 0o600) == 0)
        default:
            locked = open(try scratch.write(name, "in use"), O_RDONLY | O_CLOEXEC)
            try #require(flock(locked, LOCK_SH | LOCK_NB) == 0)
        }
        try Folder(scratch.path).replace("a", with: Self.text)
        #expect(scratch.read("a") == "new")
        #expect(scratch.names.contains(name) && scratch.names.count == (kind == "symbolic link" ? 3 : 2))
        if kind == "symbolic link" { #expect(scratch.read("victim") == "kept") }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func filesOfOtherUsersAreKept() throws {
        let scratch = try ScratchFolder()
        let name = try Self.temporaryName()
        try #require(lchown(try scratch.write(name, "another's"), 65534, 65534) == 0)
        try Folder(scratch.path).replace("a", with: Self.text)
        #expect(scratch.read(name) == "another's" && scratch.read("a") == "new")
    }

    @Test(arguments: [0o600, 0o640, 0o644, 0o664, 0o666, 0o444, 0o755, 0o000] as [mode_t])
    func permissionsOfAReplacedFileAreKept(_ mode: mode_t) throws {
        let scratch = try ScratchFolder()
        let folder = try Folder(scratch.path)
        try #require(chmod(scratch.write("a", "old"), mode) == 0)
        try folder.replace("a", with: Self.text)
        #expect(try folder.status(of: "a")?.mode == S_IFREG | mode)
        // A file that must be private is written with private permissions, whatever permissions the previous file had.
        try folder.replace("a", with: Self.text, mode: 0o600)
        #expect(try folder.status(of: "a")?.mode == S_IFREG | mode & 0o700)
        try folder.replace("b", with: Self.text, mode: 0o600)
        #expect(try folder.status(of: "b")?.mode == S_IFREG | 0o600)
    }

    /// Mode bits other than permissions are not copied to the new file.
    @Test func setIDBitsAreDropped() throws {
        let scratch = try ScratchFolder()
        let folder = try Folder(scratch.path)
        try #require(chmod(scratch.write("a", "old"), 0o6755) == 0)
        try folder.replace("a", with: Self.text)
        #expect(try folder.status(of: "a")?.mode == S_IFREG | 0o755)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func permissionsSetByAnotherUserAreDropped() throws {
        let scratch = try ScratchFolder()
        let folder = try Folder(scratch.path)
        let path = try scratch.write("a", "prepared")
        try #require(chmod(path, 0o646) == 0 && lchown(path, 65534, 65534) == 0 && chmod(scratch.path, 0o1777) == 0)
        try folder.replace("a", with: Self.text)
        #expect(try (folder.status(of: "a")?.mode ?? 0o002) & 0o002 == 0)
        // In a folder that belongs to this user, a file's group and its permissions are kept.
        try #require(chmod(scratch.path, 0o755) == 0)
        let other = try scratch.write("b", "shared")
        try #require(chmod(other, 0o660) == 0 && lchown(other, uid_t.max, 65534) == 0)
        try folder.replace("b", with: Self.text)
        let status = try folder.status(of: "b")
        #expect(status?.group == 65534 && status?.mode == S_IFREG | 0o660)
    }

    /// A program started by the run may rename the folder and put a link in its place.
    @Test func exchangedFolderIsNotFollowed() throws {
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

    /// The file replaces the last component of the path. If that component is a link, nothing is written through it.
    @Test(arguments: ["symbolic link", "hard link", "pipe"])
    func existingEntryIsReplaced(_ kind: String) throws {
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

    @Test func rewritingKeepsPermissionsAndLinks() throws {
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

    /// In a sticky folder such as `/tmp`, the kernel doesn't follow another user's symbolic link. Resolving the link
    /// before the file is opened would circumvent this protection.
    @Test(.enabled(if: geteuid() == 0, "only root can give a link to another user"))
    func linkOfAnotherUserIsNotFollowed() throws {
        let temporary = try ScratchFolder()
        let victim = try temporary.write("victim", "kept")
        let shared = try temporary.folder("shared")
        let path = try temporary.link("shared/report", to: victim)
        chmod(shared, 0o1777)
        try #require(lchown(path, 65534, 65534) == 0)
        let error = #expect(throws: SystemError.self) { _ = try FilePlace(path) }
        #expect(error?.reason == "it is a symbolic link owned by another user, and such links are not followed")
        // If only the owner of a folder can write to it, the owner must have created the link.
        chmod(shared, 0o755)
        #expect(try FilePlace(path).name == "victim")
    }

    @Test(arguments: ["", "/", ".", "..", "a/", "a/.", "a/.."])
    func pathsWithoutANameAreRefused(_ path: String) {
        #expect(throws: SystemError.self) { _ = try FilePlace(path) }
    }

    @Test func selfReferentialLinkIsAnError() throws {
        let temporary = try ScratchFolder()
        let path = try temporary.link("a", to: "a")
        #expect(throws: SystemError("open", code: ELOOP)) { _ = try FilePlace(path) }
    }

    @Test func devicesAndPipesAreWrittenDirectly() throws {
        if try DirectOutput.open("/dev/null") == nil { Issue.record("/dev/null was taken for a replaceable file") }
        let temporary = try ScratchFolder()
        for path in ["\(temporary.path)/none", try temporary.write("file", "")] {
            if try DirectOutput.open(path) != nil { Issue.record("\(path) was taken for a device") }
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
