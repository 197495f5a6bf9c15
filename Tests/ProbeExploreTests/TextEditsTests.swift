import ProbeExplore
import ProbeScenario
import Testing

struct TextEditsTests {
    @Test func editsKeepTheirPlaces() {
        var edits = TextEdits()
        edits.replace(4..<5, with: "X")
        edits.replace(0..<1, with: "")
        edits.replace(6..<6, with: "end")
        edits.replace(2..<2, with: "-")
        #expect(String(decoding: edits.applied(to: Array("abcdef".utf8)), as: UTF8.self) == "b-cdXfend")
    }

    @Test func editInsideAnotherOneIsLeftOut() {
        var edits = TextEdits()
        edits.replace(2..<3, with: "X")
        edits.replace(1..<5, with: "")
        #expect(String(decoding: edits.applied(to: Array("abcdef".utf8)), as: UTF8.self) == "af")
    }

    @Test func includedFilesStandInTheScript() {
        let sources = SourceMap([
            SourceFile(path: "d/a.scn", bytes: Array("scenario \"a\"\ninclude \"x/b.scn\"\nnote \"1\"\n".utf8)),
            SourceFile(path: "d/x/b.scn", bytes: Array("include \"c.scn\"\nlet b = 1".utf8)),
            SourceFile(path: "d/x/c.scn", bytes: Array("let c = 2\n".utf8)),
        ])
        #expect(
            String(decoding: IncludedFiles(sources).inlined(), as: UTF8.self)
                == "scenario \"a\"\nlet c = 2\nlet b = 1\nnote \"1\"\n")
    }

    @Test func movedScriptFindsItsFiles() {
        let moved = MovedScript(
            Array("process P = ${dir}/p\nC send file(\"x/y.bin\")\n".utf8), from: "/a/b", to: "/a/c/out",
            copiesBelow: "t.files")
        #expect(
            String(decoding: moved.bytes, as: UTF8.self)
                == "process P = ${dir}/../../b/p\nC send file(\"t.files/x/y.bin\")\n")
        #expect(moved.copies.map(\.source) == ["x/y.bin"])
        #expect(moved.copies.map(\.target) == ["t.files/x/y.bin"])
    }

}
