import Testing

/// Test names follow one convention: the name of a test function states a fact in lowerCamelCase, the name of a suite
/// ends in `Tests` and is the same as the name of its file, and there are no display names.
struct TestNamesTests {
    private static let files = Repository.files(below: "Tests", ending: ".swift").filter {
        Repository.text($0)?.contains("@Test") == true && !$0.hasPrefix("Tests/ArchitectureTests/")
    }

    @Test
    func functionsAreNamedInLowerCamelCase() {
        for path in Self.files {
            let lines = (Repository.text(path) ?? "").split(separator: "\n")
            for (index, line) in lines.enumerated() where line.contains("@Test") {
                // The attributes of a test may span several lines.
                guard let function = lines[index...].first(where: { $0.contains("func ") }),
                    let name = function.firstMatch(of: /func (`[^`]*`|\w+)/)
                else { continue }
                #expect(name.1.wholeMatch(of: /[a-z][A-Za-z0-9]*/) != nil, "\(path): \(name.1)")
            }
        }
    }

    @Test
    func noTestHasADisplayName() {
        for path in Self.files {
            let hasOne = Repository.text(path)?.firstMatch(of: /@(?:Test|Suite)\(\s*"/) != nil
            #expect(!hasOne, "\(path)")
        }
    }

    @Test
    func filesAreNamedAfterTheirSuites() {
        for path in Self.files {
            let name = path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
            #expect(name.hasSuffix("Tests"), "\(path) contains tests, but is not named …Tests")
        }
    }
}
