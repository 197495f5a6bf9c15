import ProbeSystem
import Testing

/// Tests that files are written only below a folder, and that existing files with the same name are preserved.
struct FolderBelowTests {
    @Test func intermediateFoldersAreCreated() throws {
        let temporary = try ScratchFolder()
        let folder = try Folder(temporary.path)
        try Folder(making: ["a", "b"], below: folder).replaceKeepingEarlier("c", with: Array("1".utf8))
        try Folder(making: ["a", "b"], below: folder).replaceKeepingEarlier("d", with: Array("2".utf8))
        #expect(temporary.read("a/b/c") == "1" && temporary.read("a/b/d") == "2")
    }

    @Test(arguments: [["..", "x"], ["a", ".."], ["a", "../x"], ["."], [""], ["a/b"]])
    func escapingNamesAreRefused(parts: [String]) throws {
        let temporary = try ScratchFolder()
        let folder = try Folder(temporary.path)
        #expect(throws: SystemError.self) { try Folder(making: parts, below: folder) }
        #expect(throws: SystemError.self) { try folder.replaceKeepingEarlier(parts[parts.count - 1] + "/", with: []) }
    }

    @Test func intermediateLinkIsNotFollowed() throws {
        let temporary = try ScratchFolder()
        let other = try ScratchFolder()
        let folder = try Folder(temporary.path)
        _ = try temporary.link("a", to: other.path)
        #expect(throws: SystemError.self) { try Folder(making: ["a", "b"], below: folder) }
        _ = try temporary.link("earlier", to: other.path)
        try folder.replaceKeepingEarlier("x", with: Array("1".utf8))
        #expect(throws: SystemError.self) { try folder.replaceKeepingEarlier("x", with: Array("2".utf8)) }
        #expect(other.names.isEmpty)
        #expect(temporary.read("x") == "1")
    }

    @Test func linkInPlaceOfAFileIsMoved() throws {
        let temporary = try ScratchFolder()
        let folder = try Folder(temporary.path)
        try folder.replace("own", with: Array("own".utf8))
        _ = try temporary.link("x", to: "own")
        #expect(try folder.replaceKeepingEarlier("x", with: Array("own".utf8)) == "x")
        #expect(temporary.read("own") == "own")
        #expect(SmallFile.linkTarget(temporary.path + "/earlier/x") == "own")
    }

    @Test func eachEarlierFileIsKept() throws {
        let temporary = try ScratchFolder()
        let folder = try Folder(temporary.path)
        let moved = try ["1", "2", "2", "3"].map { try folder.replaceKeepingEarlier("a.min.scn", with: Array($0.utf8)) }
        #expect(moved == [nil, "a.min.scn", nil, "a.min.2.scn"])
        #expect(temporary.read("a.min.scn") == "3")
        #expect(temporary.read("earlier/a.min.scn") == "1")
        #expect(temporary.read("earlier/a.min.2.scn") == "2")
    }
}
