import ProbeBase
import Testing

@testable import ProbeScenario

/// Tests the syntax trees of statements about TLS, and which statements are rejected.
@Suite struct TLSConstructTests {
    private func scenario(_ text: String) throws -> Scenario {
        let result = compile("scenario \"x\"\n" + text)
        #expect(result.diagnostics.allSatisfy { $0.id == .nothingTested }, "\(result.rendered)")
        return try #require(result.plan?.scenario)
    }

    private func ids(_ text: String) -> [DiagnosticID] {
        compile("scenario \"x\"\n" + text).diagnostics.map(\.id).filter { $0 != .nothingTested }
    }

    @Test func optionsMayBeInAnyOrder() throws {
        let text = """
            server S on 127.0.0.1 tls alpn "imap" "smtp" key "a.key" version 1.2 cert "a.pem" tickets 0 client-cert asked backlog 4
            client C -> S tls name "chat.test" ca run version 1.3 cert run with send-buffer 4KiB
            subject T -> S tls ca "ca.pem" name "chat.test" alpn "imap"
            C connect
            S accept
            T start
            """
        let actors = try scenario(text).actors
        let server = try #require(actors[0].tls)
        #expect(server.version == .tls12 && server.protocols.count == 2 && server.tickets != nil)
        #expect(server.clientCertificate == .asked)
        guard case .file(_, .some) = server.certificate else { throw Abort("no certificate of a file") }
        let client = try #require(actors[1].tls)
        guard case .run = client.trust, case .issuedByRun = client.certificate else { throw Abort("client") }
        #expect(client.version == .tls13 && client.name != nil)
        let subject = try #require(actors[2].tls)
        guard case .file = subject.trust else { throw Abort("subject") }
        #expect(subject.protocols.count == 1)
    }

    private struct Abort: Error {
        init(_ reason: String) { Issue.record("\(reason)") }
    }

    @Test(arguments: [
        ("server S tls cert expired cert expired", DiagnosticID.clauseTwice),
        ("server S tls tls", .clauseTwice),
        ("server S tls key \"a.key\"", .expected),
        ("server S tls cert old", .unknownWord),
        ("server S tls version 1.1", .unknownWord),
        ("server S tls version", .expected),
        ("server S tls ca run", .unknownWord),
        ("server S tls name \"x\"", .unknownWord),
        ("server S tls certs", .unknownWord),
        ("server S tls tickets \"a\"", .wrongType),
        ("server S\nclient C -> S tls tickets 0", .unknownWord),
        ("server S\nclient C -> S tls cert expired", .expected),
        ("server S\nsubject T -> S tls cert run", .unknownWord),
    ])
    func invalidOptionsAreDiagnosed(text: String, id: DiagnosticID) {
        #expect(ids(text + "\nnote \"x\"").contains(id), "\(ids(text + "\nnote \"x\""))")
    }

    private static let up =
        "server S tls\nclient C -> S tls\nserver R\nclient D -> R\nC connect\nS accept\nD connect\nR accept\n"

    @Test(arguments: [
        ("D expect truncated", DiagnosticID.noTLS),
        ("D expect alert 40", .noTLS),
        ("D send \"a\" in records of 1B", .noTLS),
        ("D send plaintext \"a\"", .noTLS),
        ("C start tls", .noTLS),
        ("R accept as B without tls", .noTLS),
        ("D close\nD connect tls failed", .noTLS),
        ("C send record 23 \"\"\nC send \"a\"", .afterForged),
        ("C send alert fatal 40\nC send line \"a\"", .afterForged),
        ("C send alert fatal 40\nC send key-update", .afterForged),
        ("C send notify\nC send ticket", .afterForged),
        ("C send alert fatal nonsense", .unknownWord),
        ("C expect alert nonsense", .unknownWord),
        ("C send \"a\" in records of 1B in records of 2B", .clauseTwice),
        ("C send \"a\" in records of 20KiB", .outOfRange),
        ("C send record 256 \"\"", .outOfRange),
    ])
    func impossibleStepsAreErrors(text: String, id: DiagnosticID) {
        #expect(ids(Self.up + text).contains(id), "\(ids(Self.up + text))")
    }

    @Test(arguments: TLSAction.phrases.map(\.entry).filter { $0.spelling != "start tls" }.map(\.example))
    func stepNeedsTLS(example: String) {
        #expect(ids(Self.up + "D \(example)").contains(.noTLS), "\(ids(Self.up + "D \(example)"))")
        #expect(!ids(Self.up + "S \(example)").contains(.noTLS), "\(ids(Self.up + "S \(example)"))")
    }

    @Test(arguments: TLSRecordFault.allCases)
    func faultCannotFollowAForgedRecord(fault: TLSRecordFault) {
        #expect(ids(Self.up + "C \(fault.rawValue)\nC send \"a\"") == [])
        #expect(ids(Self.up + "C send record 23 \"\"\nC \(fault.rawValue)") == [.afterForged])
    }

    @Test(arguments: [
        "C send \"a\" cut at 3, 20",
        "C send \"a\" in records of 1B cut at 3",
        "C send notify\nC send \"ghost\"\nC close",
        "C send alert warning close-notify\nC send notify\nC close",
        "C send record 23 \"a\"\nC close",
        "D start tls ca run name \"x\" failed unknown-ca",
        "R start tls cert expired cut at 3, 7 every 5ms",
        "R start tls stop after 100 bytes",
        "R start tls in pieces of 1B\nR send notify",
        "C close without notify",
        "S expect closed",
        "let notify = \"x\"\nD send (notify)",
        "S expect alert unknown-ca within 100ms",
    ])
    func possibleStepsAreAccepted(text: String) {
        #expect(ids(Self.up + text) == [], "\(compile("scenario \"x\"\n" + Self.up + text).rendered)")
    }

    @Test func forgedRecordsNeedTLS13() {
        let text = "server S tls version 1.2\nclient C -> S tls\nC connect\nS accept\nS send record 23 \"\""
        #expect(ids(text) == [.afterForged])
    }

    @Test func useOfTheAuthorityIsDetected() throws {
        #expect(try scenario("process P = prog ${ca}\nP start").namesAuthority)
        #expect(try !scenario("let ca = \"x\"\nprocess P = prog ${ca}\nP start").namesAuthority)
    }
}
