import Glibc
import Testing

@testable import ProbeSystem

/// Tests that a path in a script can't refer to a file outside the script's folder, and that only regular files are
/// opened, both with and without `openat2`.
struct ConfinedFileTests {
    /// Creates the folder `in`, and beside it a file that a script must not be able to read.
    private func tree() throws -> ScratchFolder {
        let tree = try ScratchFolder()
        _ = try tree.folder("in")
        _ = try tree.folder("in/sub")
        _ = try tree.folder("in/sub/deep")
        _ = try tree.folder("out")
        _ = try tree.write("secret", "secret")
        _ = try tree.write("out/secret", "secret")
        _ = try tree.write("in/a", "a")
        _ = try tree.write("in/sub/b", "b")
        _ = try tree.link("in/near", to: "a")
        _ = try tree.link("in/sub/up", to: "../a")
        _ = try tree.link("in/folder", to: "sub/deep/..")
        _ = try tree.link("in/chain", to: "folder/up")
        _ = try tree.link("in/far", to: "../secret")
        _ = try tree.link("in/absolute", to: "\(tree.path)/in/a")
        _ = try tree.link("in/outside", to: "../out")
        _ = try tree.link("in/sub/outside", to: "../../out")
        _ = try tree.link("in/there-and-back", to: "../in/a")
        _ = try tree.link("in/later", to: "sub/outside/secret")
        _ = try tree.link("in/root", to: "/")
        _ = try tree.link("in/process", to: "/proc/self/cwd")
        _ = try tree.link("in/itself", to: "itself")
        _ = try tree.link("in/nowhere", to: "none")
        try #require(mkfifo("\(tree.path)/in/pipe", 0o600) == 0)
        _ = try tree.link("in/to-pipe", to: "pipe")
        return tree
    }

    @Test(
        arguments: ["a", "./a", "sub/../a", "sub//b", "near", "sub/up", "folder/b", "chain", "folder/deep/../b"],
        [true, false])
    func filesInsideTheFolderAreRead(_ path: String, _ usesOpenat2: Bool) throws {
        let tree = try tree()
        let file = ConfinedFile(in: try Folder("\(tree.path)/in"), usesOpenat2: usesOpenat2)
        let text = path.hasSuffix("b") ? "b" : "a"
        #expect(try file.contents(of: path, limit: 10) == Array(text.utf8))
    }

    @Test(
        arguments: [
            "/etc/passwd", "..", "../secret", "sub/../../secret", "far", "absolute", "outside", "outside/secret",
            "sub/outside/secret", "folder/outside/secret", "there-and-back", "later", "root/etc/passwd",
            "process/a", "sub/deep/../../../secret",
        ], [true, false])
    func filesOutsideTheFolderAreRefused(_ path: String, _ usesOpenat2: Bool) throws {
        let tree = try tree()
        let file = ConfinedFile(in: try Folder("\(tree.path)/in"), usesOpenat2: usesOpenat2)
        #expect(throws: SystemError("open", code: EXDEV)) { _ = try file.contents(of: path, limit: 10) }
    }

    /// Entries that are not regular files are rejected without blocking and without opening a device, and the error
    /// depends on the kind of the entry.
    @Test(
        arguments: [
            ("pipe", EINVAL), ("to-pipe", EINVAL), ("sub", EISDIR), ("folder", EISDIR), (".", EISDIR),
            ("sub/..", EISDIR),
            ("none", ENOENT), ("nowhere", ENOENT), ("a/b", ENOTDIR), ("a/", ENOTDIR), ("a/.", ENOTDIR), ("", ENOENT),
            ("itself", ELOOP),
        ], [true, false])
    func otherKindsOfFilesAreReported(_ what: (path: String, code: Int32), _ usesOpenat2: Bool) throws {
        let tree = try tree()
        let file = ConfinedFile(in: try Folder("\(tree.path)/in"), usesOpenat2: usesOpenat2)
        let error = #expect(throws: SystemError.self) { _ = try file.contents(of: what.path, limit: 10) }
        #expect(error?.code == what.code)
    }

    @Test(arguments: ["null", "zero", "full"], [true, false])
    func devicesAreRefused(_ name: String, _ usesOpenat2: Bool) throws {
        let file = ConfinedFile(in: try Folder("/dev"), usesOpenat2: usesOpenat2)
        let error = #expect(throws: SystemError.self) { _ = try file.contents(of: name, limit: 10) }
        #expect(error?.code == EINVAL)
    }

    /// A file's size is checked before any of its bytes are read.
    @Test(arguments: [true, false])
    func oversizedFilesAreRefused(_ usesOpenat2: Bool) throws {
        let tree = try tree()
        let large = try tree.write("in/large", "")
        try #require(truncate(large, 1 << 40) == 0)
        let file = ConfinedFile(in: try Folder("\(tree.path)/in"), usesOpenat2: usesOpenat2)
        let error = #expect(throws: SystemError.self) { _ = try file.contents(of: "large", limit: 10) }
        #expect(error?.code == EFBIG)
        #expect(try file.contents(of: "a", limit: 1) == [97])
        #expect(throws: SystemError("read", code: EFBIG)) { _ = try file.contents(of: "a", limit: 0) }
    }
}
