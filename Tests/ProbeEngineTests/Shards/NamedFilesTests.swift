import ProbeEngine
import ProbeScenario
import Testing

/// The files that scripts refer to with `file("…")`, which are included in the hash of a plan.
@Suite struct NamedFilesTests {
    private func hash(_ script: String, _ files: [String: String]) -> UInt64 {
        var named = NamedFiles()
        let sources = SourceMap([SourceFile(path: "a/s.scn", bytes: Array(script.utf8))])
        return named.hash(of: sources, script: "a/s.scn") { (file) throws(LoadError) in
            guard let text = files[file.shown] else { throw .notFound }
            return Array(text.utf8)
        }
    }

    @Test func hashDependsOnFileContents() {
        let script = "let x = file(\"data.txt\")\nC send file(\"b/c.bin\") + file(\""
        let one = hash(script, ["a/data.txt": "1", "a/b/c.bin": "2"])
        #expect(one == hash(script, ["a/data.txt": "1", "a/b/c.bin": "2", "a/other": "3"]))
        #expect(one != hash(script, ["a/data.txt": "1", "a/b/c.bin": "3"]))
        #expect(one != hash(script, ["a/data.txt": "1"]))
        #expect(one != hash(script, ["a/data.txt": "2", "a/b/c.bin": "1"]))
    }

    @Test func textsWithoutFilesHashEqually() {
        #expect(hash("wait 1ms", [:]) == hash("", ["a/data.txt": "1"]))
        // Files outside the script's folder are not read.
        #expect(hash("file(\"../x\")", ["x": "1"]) == hash("", [:]))
    }
}
