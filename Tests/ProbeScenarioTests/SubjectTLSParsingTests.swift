import ProbeScenario
import Testing

/// Tests the parsing of a subject's TLS statements: `subject … tls`, `start tls` and `expect secured`.
struct SubjectTLSParsingTests {
    private static let server = "server S\n"

    private static let good = [
        "subject T -> S tls\nT start\nT expect secured\nT expect started",
        "subject T -> S with connect-timeout 1s tls alpn \"a\" \"b\" name \"x.test\" version 1.3 ca \"a.pem\"\nT start\nT expect secured",
        "subject T -> S tls version 1.2 with idle-timeout 1s\nT start\nT expect secured within 1s after 1ms",
        "subject T -> S\nT start\nT start tls\nT expect secured",
        "subject T -> S\nT start\nT start tls name \"x.test\"\nT expect stopped tls-failed",
        "subject T -> S tls ca run\nT start\nT start tls\nT expect error already-started",
        "require subject tls\nrequire subject start-tls\nsubject T -> S\nT start\nT expect started",
    ]

    @Test(arguments: good)
    func validStatementsAreAccepted(script: String) {
        let result = compile("scenario \"x\"\n" + Self.server + script)
        #expect(!result.hasErrors, "\(result.rendered)")
    }

    private static let wrong: [(String, String)] = [
        ("subject T -> S tls cert expired\nT start", "`tls` option of a subject"),
        ("subject T -> S tls tickets 0\nT start", "`tls` option of a subject"),
        ("subject T -> S tls name \"a\" name \"b\"\nT start", "name"),
        ("subject T -> S tls version 1.1\nT start", "TLS version"),
        ("subject T listens tls\nT start", "with"),
        ("subject T -> S\nT start\nT expect secured", "which `T` doesn't use at this step"),
        ("subject T -> S\nT start\nT start tls cert expired", "`tls` option of a subject"),
        ("subject T -> S\nT start\nT start tls failed\nT expect stopped", "failed"),
        ("subject T -> S tls\nT expect secured", "start"),
        ("subject T listens\nT start\nT start tls", "listens or was accepted"),
        (
            "subject T listens\nclient C -> T\nT start\nC connect\nT expect accept as A\nA start tls\nA expect line \"x\"",
            "listens or was accepted"
        ),
    ]

    @Test(arguments: wrong)
    func invalidStatementsAreExplained(script: String, says: String) {
        let result = compile("scenario \"x\"\n" + Self.server + script)
        #expect(result.hasErrors && result.rendered.contains(says), "\(script)\n\(result.rendered)")
    }
}
