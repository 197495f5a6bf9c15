import Glibc
import ProbeScenario
import Testing

/// The scripts in `Tests/Golden/wrong-scripts.txt`. After messages have changed, run `TCPPROBE_RENEW_GOLDEN=1 swift
/// test --filter WrongScriptTests`, and review the diff.
@Suite struct WrongScriptTests {
    static let file = "wrong-scripts.txt"
    static let scripts = WrongScript.parse(TestFiles.text(of: file))
    static var isRenewing: Bool { getenv("TCPPROBE_RENEW_GOLDEN") != nil }

    @Test(.disabled(if: isRenewing), arguments: scripts)
    func messagesMatchGoldenText(_ script: WrongScript) {
        #expect(script.actual == script.golden)
    }

    @Test(.enabled(if: isRenewing))
    func goldenTextIsRenewed() {
        let text = Self.scripts.map { "=== \($0.name)\n\($0.actual)\n" }.joined(separator: "\n")
        TestFiles.write(text, to: Self.file)
    }

    @Test func thereAreEnoughScripts() {
        #expect(Self.scripts.count >= 90)
        #expect(Set(Self.scripts.map(\.name)).count == Self.scripts.count)
        for script in Self.scripts { #expect(script.golden.contains("1\u{FE0F}\u{20E3}"), "\(script.name)") }
    }

    /// The IDs of diagnostics are stable, and at least one script causes each diagnostic.
    @Test func everyDiagnosticIsCovered() {
        let elsewhere: Set<DiagnosticID> = [.notUTF8, .nulByte, .tooLarge, .tooManyErrors, .unknownSetting]
        for id in DiagnosticID.allCases where !elsewhere.contains(id) {
            #expect(Self.scripts.contains { $0.golden.contains(" \(id.rawValue): ") }, "\(id.rawValue)")
        }
    }
}

extension WrongScript: CustomTestStringConvertible {
    var testDescription: String { name }
}
