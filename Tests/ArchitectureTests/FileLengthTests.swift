import Testing

/// A file should have one subject, and a file of more than 800 lines usually has several. Whether a shorter file has
/// one subject is left to code review.
struct FileLengthTests {
    private static let longest = 800

    @Test(arguments: ["Sources", "Tests"])
    func filesStayWithinLengthLimit(folder: String) {
        let paths = Repository.files(below: folder, ending: ".swift")
        #expect(paths.count > 100, "the files were read")
        for path in paths {
            let lines = Repository.text(path)?.utf8.count { $0 == 10 } ?? 0
            if lines > Self.longest { Issue.record("\(path) has \(lines) lines, more than \(Self.longest)") }
        }
    }
}
