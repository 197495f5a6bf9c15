import ProbeExplore
import ProbeScenario
import Testing

/// A script that is moved to another folder must refer to the same files, and no path in an untrusted script may lead
/// outside the folders.
struct MovedScriptTests {
    private static func moved(
        _ text: String, from old: String = "/a/b", to new: String = "/a/c/out", _ values: [String: String] = [:]
    ) -> (text: String, script: MovedScript) {
        let script = MovedScript(Array(text.utf8), from: old, to: new, copiesBelow: "t.files") { values[$0] }
        return (String(decoding: script.bytes, as: UTF8.self), script)
    }

    private static func inlined(_ files: (path: String, text: String)...) -> String {
        let sources = SourceMap(files.map { SourceFile(path: $0.path, bytes: Array($0.text.utf8)) })
        return String(decoding: IncludedFiles(sources).inlined(), as: UTF8.self)
    }

    @Test func movedScriptFindsItsFiles() {
        let (text, script) = Self.moved("process P = ${dir}/p\nC send file(\"x/y.bin\")\n")
        #expect(text == "process P = ${dir}/../../b/p\nC send file(\"t.files/x/y.bin\")\n")
        #expect(script.copies.map(\.source) == ["x/y.bin"])
        #expect(script.copies.map(\.target) == ["t.files/x/y.bin"])
        #expect(!script.hasUnknownFiles)
    }

    @Test(arguments: [
        "# C send file(\"secret\")\n", "note \"file(\\\"secret\\\")\"\n", "note 'file(\"secret\")'\n",
        "C expect line /file\\(\"secret\"\\)/\n", "# ${dir}\nnote '${dir}'\n", "C send \"\\${dir}\"\n",
        "process P = echo 'file(\"secret\")' file(\"secret\")\n", "process P = echo '${dir}' \\${dir} # ${dir}\n",
        "about \"file('secret')\"\n", "C send \"cert\" + \"key\"\n",
    ])
    func commentsAndOtherStringsAreNotFileNames(text: String) {
        let (moved, script) = Self.moved(text)
        #expect(moved == text && script.copies.isEmpty && !script.hasUnknownFiles)
    }

    @Test(arguments: [
        "../../.bashrc", "/etc/shadow", "x/../../y", "..", "x/../..", "./../y", "../b/x", "//etc/shadow", "x//../../y",
    ])
    func filesOutsideTheFolderAreNotCopied(path: String) {
        for text in ["C send file(\"\(path)\")\n", "C send file('\(path)')\n", "server S tls cert \"\(path)\"\n"] {
            let (moved, script) = Self.moved(text)
            #expect(moved == text && script.copies.isEmpty, "\(text)")
        }
    }

    @Test(arguments: [
        ("x/../y", "y"), ("./x", "x"), ("x//y", "x/y"), ("x/./y", "x/y"), ("a b", "a b"), ("..x", "..x"),
    ])
    func copiesStayBelowTheirFolder(path: String, source: String) {
        let (_, script) = Self.moved("C send file(\"\(path)\")\n")
        #expect(script.copies.map(\.source) == [source])
        #expect(script.copies.map(\.target) == ["t.files/\(source)"])
    }

    @Test func caseValuesAreInterpolatedInFileNames() {
        let (text, script) = Self.moved("C send file(\"${n}.bin\") + file(n) + file('${n}')\n", ["n": "one"])
        #expect(text == "C send file(\"t.files/${n}.bin\") + file(\"t.files/${n}\") + file('t.files/${n}')\n")
        #expect(script.copies.map(\.source) == ["one.bin", "one", "${n}"])
    }

    @Test func caseValuesCannotEscapeTheFolder() {
        let (_, script) = Self.moved("C send file(\"${n}/shadow\") + file(n)\n", ["n": "../etc"])
        #expect(script.copies.isEmpty)
    }

    @Test(arguments: ["file(\"${x}\")", "file(x)", "file(\"a\" + x)", "file(\"a\\x2fb\")"])
    func unknownFilesAreReported(value: String) {
        let (_, script) = Self.moved("C send \(value)\n")
        #expect(script.hasUnknownFiles && script.copies.isEmpty)
    }

    @Test func tlsFilesAreCopied() {
        let (text, script) = Self.moved("server S tls cert \"a.pem\" key \"k/a.key\"\nclient C -> S tls ca 'ca.pem'\n")
        #expect(
            text
                == "server S tls cert \"t.files/a.pem\" key \"t.files/k/a.key\"\nclient C -> S tls ca 't.files/ca.pem'\n"
        )
        #expect(script.copies.map(\.source) == ["a.pem", "k/a.key", "ca.pem"])
    }

    @Test(arguments: [
        ("${dir}/p", "${dir}/../../b\\ \\'\\\"\\$x/p"), ("\"${dir}/p\"", "\"${dir}/../../b '\\\"\\$x/p\""),
        ("x'${dir}'${dir}", "x'${dir}'${dir}/../../b\\ \\'\\\"\\$x"), ("\\${dir}", "\\${dir}"),
        ("a=\"'\"${dir}", "a=\"'\"${dir}/../../b\\ \\'\\\"\\$x"),
    ])
    func specialCharactersInFolderAreQuoted(word: String, expected: String) {
        let (text, _) = Self.moved("process P = \(word)\n", from: "/a/b '\"$x")
        #expect(text == "process P = \(expected)\n")
    }

    @Test func unquotableFolderChangesNothing() {
        let (text, _) = Self.moved("process P = ${dir}/p\n", from: "/a/b\nP start")
        #expect(text == "process P = ${dir}/p\n")
    }

    @Test func includedFilesAreInlined() {
        #expect(
            Self.inlined(
                ("d/a.scn", "scenario \"a\"\ninclude \"x/b.scn\"\nnote \"1\"\n"),
                ("d/x/b.scn", "include \"c.scn\"\nlet b = 1"), ("d/x/c.scn", "let c = 2\n"))
                == "scenario \"a\"\nlet c = 2\nlet b = 1\nnote \"1\"\n")
    }

    @Test func filesInIncludesAreRelativeToTheScript() {
        #expect(
            Self.inlined(
                ("d/a.scn", "include \"x/b.scn\"  # file(\"c\")\nlet a = file(\"1\")\n"),
                ("d/x/b.scn", "let b = file(\"2\")  # file(\"c\")\n"))
                == "let b = file(\"x/2\")  # file(\"c\")\nlet a = file(\"1\")\n")
    }

    @Test func includeInACommentOrStringIsIgnored() {
        let text = "scenario \"a\"\n# include \"b.scn\"\nnote \"include \\\"b.scn\\\"\"\n"
        #expect(Self.inlined(("a.scn", text), ("b.scn", "let b = 1\n")) == text)
    }
}
