import Testing

/// A type should have one responsibility, and a long type, including its extensions, usually has several.
struct TypeLengthTests {
    private static let longest = 800

    /// The number of lines of each type in the package, including the type's extensions in all modules.
    private static let lengths: [String: Int] = {
        var lines: [String: Int] = [:]
        var own: Set<String> = []
        for declaration in DeclaredTypes.ofSources.flatMap(\.declarations) {
            lines[declaration.name, default: 0] += declaration.lines
            if !declaration.isExtension { own.insert(declaration.name) }
        }
        return lines.filter { own.contains($0.key) }
    }()

    @Test func typesStayWithinLengthLimit() {
        #expect(Self.lengths.count > 500, "the sources were read")
        for (name, lines) in Self.lengths.sorted(by: { $0.key < $1.key })
        where lines > Self.longest {
            Issue.record("\(name) has \(lines) lines with its extensions, more than \(Self.longest)")
        }
    }

    @Test(arguments: [
        ("struct A {\n}\nextension A {\n\n}", ["A": 5]),
        ("struct A {\n    enum B {\n    }\n}\nextension A.B {}", ["A": 4, "A.B": 3]),
        ("/* }\n} */ struct A {\n    // }\n    let x = \"\"\"\n        }\n        \"\"\"\n}", ["A": 6]),
        ("#if X\nstruct A {\n#else\nstruct A {\n#endif\n}", ["A": 5]),
        ("struct A { let x = \"\\([1].map { $0 })\" }\ntypealias B = A", ["A": 1, "B": 1]),
    ])
    func linesAreCounted(text: String, lines: [String: Int]) {
        var found: [String: Int] = [:]
        for declaration in DeclaredTypes.declarations(in: text) {
            found[declaration.name, default: 0] += declaration.lines
        }
        #expect(found == lines)
    }
}
