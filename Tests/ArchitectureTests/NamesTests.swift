import Testing

/// Two types with one name are two ways to do one thing, or a name that says too little.
struct NamesTests {
    @Test func noTwoTypesHaveOneName() {
        var declarations: [String: [String]] = [:]
        for (path, found) in DeclaredTypes.ofSources {
            for declaration in found where !declaration.isExtension {
                declarations[declaration.name, default: []].append(path)
            }
        }
        #expect(declarations.count > 500, "the sources were read")
        for (name, paths) in declarations.sorted(by: { $0.key < $1.key }) where paths.count > 1 {
            Issue.record("\(name) is declared in \(paths.joined(separator: " and in "))")
        }
    }

    @Test func noTwoPathsDifferByCaseAlone() {
        var paths: [String: String] = [:]
        for file in ["Sources", "Tests"].flatMap({ Repository.files(below: $0, ending: "") }) {
            let folders = file.split(separator: "/")
            for count in 1...folders.count {
                let path = folders.prefix(count).joined(separator: "/")
                let other = paths.updateValue(path, forKey: path.lowercased())
                #expect(other == nil || other == path, "\(other ?? "") and \(path)")
            }
        }
    }

    @Test(arguments: [
        ("struct A { enum B { case class_ } }\nextension A { struct C {} }", ["A", "A.B", "A.C"]),
        ("// struct A {}\n/* struct B {} /* */ struct C {} */ final class D {}", ["D"]),
        ("let x = \"struct A { \\(f(\"}\")) \"\nlet y = #\"enum B {\"#\nenum E {}", ["E"]),
        ("let x = \"\"\"\n    struct A {\n    \"\"\"\nactor F {}", ["F"]),
        ("#if os(Linux)\nstruct A {}\n#else\nstruct A {}\n#endif\nprotocol P {}", ["A", "P"]),
        ("class func make() {}\nstruct A { class func b() {} ; struct B {} }", ["A", "A.B"]),
        ("extension A.B { struct C {} }", ["A.B.C"]),
        ("func f(_ actor: A, class: B) -> [C] {}\nlet d: any E.Type", []),
        ("func f() { struct L {} }\nstruct M {}", ["L", "M"]),
    ])
    func declarationsAreFound(text: String, names: [String]) {
        #expect(DeclaredTypes.names(in: text) == names)
    }
}
