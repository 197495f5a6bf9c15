import Glibc
import Testing

@testable import ProbeSystem

/// Removing a folder removes all of its contents, and nothing outside it.
struct FolderRemovalTests {
    @Test func linksAreRemovedAndNotFollowed() throws {
        let scratch = try ScratchFolder()
        let outside = try scratch.folder("outside")
        _ = try scratch.write("outside/kept", "kept")
        _ = try scratch.folder("made")
        _ = try scratch.folder("made/inner")
        _ = try scratch.link("made/a", to: outside)
        _ = try scratch.link("made/inner/b", to: "../../outside")
        _ = try scratch.link("made/inner/c", to: "\(outside)/kept")
        try Folder(scratch.path).remove("made", identity: nil)
        #expect(scratch.names == ["outside"] && scratch.read("outside/kept") == "kept")
    }

    @Test func linkInPlaceOfTheFolderIsReported() throws {
        let scratch = try ScratchFolder()
        let outside = try scratch.folder("outside")
        _ = try scratch.write("outside/kept", "kept")
        let made = try scratch.folder("made")
        let parent = try Folder(scratch.path)
        let identity = try #require(try parent.status(of: "made")?.identity)
        try #require(rename(made, "\(scratch.path)/moved") == 0)
        _ = try scratch.link("made", to: outside)
        let error = #expect(throws: SystemError.self) { try parent.remove("made", identity: identity) }
        #expect(error?.reason.contains("replaced the folder") == true)
        #expect(scratch.names == ["moved", "outside"] && scratch.read("outside/kept") == "kept")
    }

    @Test func replacementFolderIsLeftAlone() throws {
        let scratch = try ScratchFolder()
        let outside = try scratch.folder("outside")
        _ = try scratch.write("outside/kept", "kept")
        let made = try scratch.folder("made")
        let parent = try Folder(scratch.path)
        let identity = try #require(try parent.status(of: "made")?.identity)
        try #require(rename(made, "\(scratch.path)/moved") == 0 && rename(outside, made) == 0)
        chmod(made, 0o555)
        let error = #expect(throws: SystemError.self) { try parent.remove("made", identity: identity) }
        #expect(error?.code == ESTALE)
        #expect(scratch.read("made/kept") == "kept")
        // A folder that has replaced the expected folder keeps its permissions.
        #expect(FileStatus(at: made).map { $0.mode & 0o777 } == 0o555)
    }

    @Test func missingFolderIsIgnored() throws {
        let scratch = try ScratchFolder()
        try Folder(scratch.path).remove("none", identity: nil)
    }

    /// The paths are longer than `PATH_MAX`, and the depth of the folders exceeds the limit on open descriptors.
    @Test func deepFoldersAreRemoved() throws {
        let scratch = try ScratchFolder()
        var current = try Folder(try scratch.folder("made"))
        let name = String(repeating: "n", count: 200)
        for _ in 0..<1500 {
            try #require(mkdirat(current.raw, name, 0o755) == 0)
            let file = openat(current.raw, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0o444)
            try #require(file >= 0)
            close(file)
            current = try Folder(name, in: current)
        }
        try Folder(scratch.path).remove("made", identity: nil)
        #expect(scratch.names == [])
    }

    /// The folders have permissions that prevent users other than root from reading them, and names that are not valid
    /// text.
    @Test(arguments: [0o555, 0o000, 0o222, 0o111] as [mode_t])
    func unreadableFoldersAreRemoved(_ mode: mode_t) throws {
        let scratch = try ScratchFolder()
        let made = try scratch.folder("made")
        _ = try scratch.folder("made/a")
        _ = try scratch.folder("made/a/b")
        _ = try scratch.write("made/a/b/f", "x")
        let odd: [CChar] = [-1, -2, 10, 27, 0]
        let folder = try Folder(made)
        let descriptor = openat(folder.raw, odd, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        for folder in ["made/a/b", "made/a", "made"] { chmod("\(scratch.path)/\(folder)", mode) }
        try Folder(scratch.path).remove("made", identity: nil)
        #expect(scratch.names == [])
    }
}
