import Testing

/// A file has one subject: a file of more than 800 lines usually has several. Review decides about shorter ones.
struct FileLengthTests {
    private static let longest = 800

    @Test(arguments: ["Sources", "Tests"])
    func noFileIsLong(folder: String) {
        let paths = Repository.files(below: folder, ending: ".swift")
        #expect(paths.count > 100, "the files were read")
        for path in paths {
            let lines = Repository.text(path)?.utf8.count { $0 == 10 } ?? 0
            if lines > Self.longest { Issue.record("\(path) has \(lines) lines, more than \(Self.longest)") }
        }
    }
}
