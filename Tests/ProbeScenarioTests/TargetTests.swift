import ProbeBase
import ProbeScenario
import Testing

/// The checker reports each address that a script may not use, wherever the address appears.
@Suite struct TargetTests {
    private func check(_ text: String, allowing targets: AllowedTargets?) -> CompilationResult {
        ScenarioCompiler.compile(
            path: "x.scn", bytes: Array(("scenario \"x\"\n" + text).utf8), allowing: targets
        ) { (_) throws(LoadError) in throw .notFound }
    }

    private static let steps = "C connect\nC expect eof\n"

    /// Scripts that each contain one address that is not a loopback address.
    static let scripts: [(text: String, line: Int, address: String)] = [
        ("client C -> 192.0.2.1:80\n" + steps, 2, "192.0.2.1:80"),
        ("client C -> [2001:db8::1]:80\n" + steps, 2, "[2001:db8::1]:80"),
        ("client C -> db.test:80\n" + steps, 2, "db.test:80"),
        ("let p = 80\nclient C -> 192.0.2.1:p\n" + steps, 3, "192.0.2.1:p"),
        ("each p = 80, 81\nclient C -> 192.0.2.1:p\n" + steps, 3, "192.0.2.1:p"),
        ("table t = 80 \"a\", 81 \"b\"\neach p, w in t\nclient C -> 192.0.2.1:p\n" + steps, 4, "192.0.2.1:p"),
        ("client C -> 0.0.0.0:80\n" + steps, 2, "0.0.0.0:80"),
        ("server S on 0.0.0.0\nclient C -> S\nC connect\nS accept\nC expect eof\n", 2, "0.0.0.0"),
        ("server S on [::]:8080\nclient C -> S\nC connect\nS accept\nC expect eof\n", 2, "[::]:8080"),
        ("server S on [::ffff:0.0.0.0]\nclient C -> S\nC connect\nS accept\nC expect eof\n", 2, "[::ffff:0.0.0.0]"),
        ("subject T -> 192.0.2.1:80\nT start\nT expect stopped refused\n", 2, "192.0.2.1:80"),
        ("client C\nC connect to 192.0.2.1:80\nC expect eof\n", 3, "192.0.2.1:80"),
        ("client C\nC connect to 192.0.2.1:80 refused\n", 3, "192.0.2.1:80"),
        ("client C\nfor i in 1..3 {\n C connect to 192.0.2.1:(8000 + i)\n C close\n}\n", 4, "192.0.2.1:(8000 + i)"),
        ("define go { C connect to 192.0.2.1:80 }\nclient C\ndo go\nC expect eof\n", 2, "192.0.2.1:80"),
        ("client C -> 127.0.0.1:80\nclient D\n" + steps + "finally { D connect to 192.0.2.1:80 }\n", 6, "192.0.2.1:80"),
    ]

    @Test(arguments: scripts.indices)
    func disallowedAddressIsReportedAtItsLocation(_ index: Int) throws {
        let script = Self.scripts[index]
        let result = check(script.text, allowing: AllowedTargets())
        let errors = result.diagnostics.filter { $0.severity == .error }
        #expect(errors.map(\.id) == [.targetNotAllowed], "\(result.rendered)")
        let error = try #require(errors.first)
        #expect(result.sources.location(of: error.span).line == script.line, "\(result.rendered)")
        #expect(result.sources.text(of: error.span) == script.address)
        #expect(error.hint?.contains("--allow-target") == true)
        #expect(result.plan == nil)
    }

    @Test(arguments: scripts.map(\.text))
    func allowedAddressesAreValid(_ text: String) throws {
        let targets = try AllowedTargets(["192.0.2.1", "2001:db8::1", "db.test", "0.0.0.0", "::"])
        #expect(!check(text, allowing: targets).hasErrors, "\(check(text, allowing: targets).rendered)")
        // A command that opens no connection has no list of allowed targets, so it does not check addresses.
        #expect(!check(text, allowing: nil).hasErrors)
    }

    @Test func knownPortIsChecked() throws {
        let targets = try AllowedTargets(["192.0.2.1:80"])
        #expect(!check("let p = 80\nclient C -> 192.0.2.1:p\n" + Self.steps, allowing: targets).hasErrors)
        #expect(check("let p = 81\nclient C -> 192.0.2.1:p\n" + Self.steps, allowing: targets).hasErrors)
        #expect(!check("each p = 80, 81\nclient C -> 192.0.2.1:p\n" + Self.steps, allowing: targets).hasErrors)
    }

    @Test(arguments: [
        "client C -> 127.9.9.9:80\n" + steps, "client C -> [::1]:80\n" + steps, "client C -> localhost:80\n" + steps,
        "server S on 127.0.0.2:8080\nclient C -> S\nC connect\nS accept\nC expect eof\n",
        "client C -> [::ffff:127.0.0.1]:80\n" + steps,
    ])
    func loopbackIsValid(_ text: String) {
        #expect(!check(text, allowing: AllowedTargets()).hasErrors)
    }
}
