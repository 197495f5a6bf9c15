import Testing

@testable import ProbeEngine

/// Checks that no two capture files have the same name, and that no name needs quoting in a shell.
struct CaseFileNameTests {
    private static func names(_ ids: [String], _ subjects: [String?], _ rounds: [Int]) -> [String] {
        ids.flatMap { id in
            subjects.flatMap { subject in rounds.map { CaseFileName.of(id: id, subject: subject, round: $0) } }
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, first != 45, first != 46, name.utf8.count <= 248 else { return false }
        return name.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "-_.".utf8.contains(byte)
        }
    }

    @Test(
        arguments: [
            ("crlf", nil, 1, "crlf"), ("close/half-close", nil, 1, "close__half-close"), ("x", nil, 2, "x.2"),
            ("x.2", nil, 1, "x_2E2"), ("y", "bsd", 1, "y.bsd"), ("y.bsd", nil, 1, "y_2Ebsd"),
            ("y", "bsd", 12, "y.bsd.12"),
            ("y", "2", 1, "y._32"), ("a_b", nil, 1, "a_b"), ("a_2F", nil, 1, "a_5F2F"), ("a__b", nil, 1, "a_5F_b"),
            ("-x", nil, 1, "_2Dx"), ("", nil, 1, "_00"),
            ("n[size=3,text=a b]", nil, 1, "n_5Bsize_3D3_2Ctext_3Da_20b_5D"),
        ] as [(String, String?, Int, String)])
    func namesAreReadable(_ id: String, _ subject: String?, _ round: Int, _ name: String) {
        #expect(CaseFileName.of(id: id, subject: subject, round: round) == name)
    }

    /// Tests every ID of up to five characters that escaping could confuse, with several subjects and rounds.
    @Test func namesAreUnique() {
        let characters = ["_", "/", ".", "-", "2", "F", "a"]
        var texts = [""]
        var last = [""]
        for _ in 0..<5 {
            last = last.flatMap { text in characters.map { text + $0 } }
            texts += last
        }
        let names =
            Self.names(texts, [nil], [1, 2])
            + Self.names(texts.filter { $0.utf8.count < 3 }, texts.filter { $0.utf8.count < 4 }, [1, 2, 22])
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy(Self.isPlain))
    }

    @Test func namesNeedNoQuoting() {
        let ids = (0..<0x250).compactMap { UnicodeScalar($0).map { String(Character($0)) } }
        let names = Self.names(Array(Set(ids + ids.map { "a" + $0 } + ids.map { $0 + "a" })), [nil, "bsd"], [1, 3])
        #expect(names.allSatisfy(Self.isPlain))
        #expect(Set(names).count == names.count)
    }

    /// Long names are truncated and end in a digest. An ID that looks like a truncated name must get a different name.
    @Test func longNamesAreUnique() {
        var ids = (170...260).flatMap { length in
            ["n", "_", "/", "ü"].map { String(repeating: $0, count: length) }
        }
        ids += ids.map { $0 + "x" } + ids.map { "x" + $0 }
        let names = Self.names(Array(Set(ids)), [nil, "bsd", String(repeating: "s", count: 200)], [1, 2, .max])
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy(Self.isPlain))
        let cut = CaseFileName.of(id: String(repeating: "n", count: 300), subject: nil, round: 1)
        #expect(CaseFileName.of(id: cut, subject: nil, round: 1) != cut)
    }
}
