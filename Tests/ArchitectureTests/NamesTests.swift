import Testing

/// If two types have the same name, either they duplicate each other, or at least one of the names is too vague.
struct NamesTests {
    @Test func typeNamesAreUnique() {
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

    @Test func noPathsDifferOnlyInCase() {
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

    /// Metaphors that were formerly used in identifiers and have been replaced with technical terms. For example, inbox
    /// is now `receiveBuffer`, transcript is `outputLog`, and afterglow is `drainInterval`.
    private static let replaced: Set = [
        "afterglow", "bell", "breach", "breaches", "claim", "claimed", "claims", "draft", "growth", "inbox", "inboxes",
        "lane", "lanes", "leftovers", "lesson", "lessons", "seldom", "stories", "story", "transcript", "transcripts",
        "transmission", "transmissions", "trouble", "troubles", "wish", "wishes",
    ]

    @Test func replacedWordsAreNotReintroduced() {
        for (path, code) in DeclaredTypes.codeOfSources {
            let words = Self.words(inIdentifiersOf: code)
            for word in words.intersection(Self.replaced).sorted() {
                Issue.record("\(path) has an identifier that contains \(word)")
            }
        }
    }

    @Test(arguments: [
        (
            "let cutTransmissions = story(of: JSONDraft.inbox_limit)",
            ["cut", "transmissions", "story", "draft", "inbox"]
        ),
        ("var retransmissions = 0 // a lesson\nlet text = \"trouble\"", ["retransmissions"]),
    ])
    func identifiersAreSplitIntoWords(code: String, expected: [String]) {
        let words = Self.words(inIdentifiersOf: DeclaredTypes.code(of: code))
        #expect(words.isSuperset(of: expected) && words.isDisjoint(with: ["lesson", "trouble"]))
    }

    /// Returns the words in the identifiers of a text. For example, `cutTransmissions` and `cut_transmissions` contain
    /// "cut" and "transmissions".
    private static func words(inIdentifiersOf code: String) -> Set<String> {
        var words: Set<String> = []
        var word = ""
        for byte in code.utf8 {
            let isUppercase = (65...90).contains(byte)
            if !(97...122).contains(byte), !word.isEmpty {
                words.insert(word)
                word = ""
            }
            if isUppercase || (97...122).contains(byte) { word.unicodeScalars.append(UnicodeScalar(byte | 0x20)) }
        }
        words.insert(word)
        return words
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
