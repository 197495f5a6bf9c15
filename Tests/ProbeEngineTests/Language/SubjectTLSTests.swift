import ProbeBase
import ProbeEvents
import ProbeTransport
import Testing

/// Tests `subject … tls`, `start tls` and `expect secured` with a subject whose reports the test specifies.
struct SubjectTLSTests {
    typealias Event = SubjectReport.Event

    private static let secured = Event.secured(.tls13, protocol: [105, 109, 97, 112])
    /// The beginning of a script for a subject with TLS. The file that the script names needs only to exist, because
    /// only the subject reads its contents.
    private static let begins = "subject T -> 127.0.0.1:1 tls ca \"Package.swift\"\nT start\n"
    private static let plain = "subject T -> 127.0.0.1:1\nT start\nT start tls ca \"Package.swift\"\n"

    private func verify(
        _ script: SecuringDriver.Script, _ verdict: Verdict, says: [String] = [], _ text: String,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        try await Scene("tls", verdict, says: says, text)
            .verify(subject: SecuringSource(script: script), sourceLocation: sourceLocation)
    }

    @Test func connectReceivesTLSOptions() async throws {
        let source = SecuringSource(
            script: .init(afterConnect: [Self.secured, .started], afterStartTLS: [Self.secured]))
        try await Scene("default", .passed, Self.begins + "T expect secured\nT expect started").verify(subject: source)
        try await Scene(
            "all", .passed,
            """
            let host = "chat"
            subject T -> 127.0.0.1:1 tls name "${host}.test" alpn "imap" "smtp" version 1.3 ca "Package.swift"
            T start
            T expect secured
            """
        ).verify(subject: source)
        #expect(
            source.operations.tls == [
                TransportTLS(authorities: "/tmp/Package.swift", name: "localhost"),
                TransportTLS(
                    authorities: "/tmp/Package.swift", name: "chat.test",
                    protocols: [Array("imap".utf8), Array("smtp".utf8)],
                    version: .tls13),
            ])
    }

    @Test func startTLSReceivesTLSOptions() async throws {
        let source = SecuringSource(script: .init(afterStartTLS: [Self.secured]))
        try await Scene(
            "starttls", .passed,
            """
            subject T -> 127.0.0.1:1
            T start
            T start tls ca "Package.swift" name "a.test" version 1.2
            T expect secured
            T send line "x"
            """
        ).verify(subject: source)
        #expect(
            source.operations.tls == [
                TransportTLS(authorities: "/tmp/Package.swift", name: "a.test", version: .tls12)
            ])
    }

    @Test(arguments: ["tls ca \"no-such.pem\"", "tls name \"a b\" ca \"Package.swift\""])
    func invalidOptionsAreErrors(options: String) async throws {
        try await verify(.init(), .error, "subject T -> 127.0.0.1:1 \(options)\nT start\nT expect secured")
    }

    @Test func failedHandshakesAreJudged() async throws {
        let failed = Event.stopped(.tlsFailed, detail: "no trust")
        try await verify(.init(afterConnect: [failed]), .passed, Self.begins + "T expect stopped tls-failed")
        try await verify(
            .init(afterConnect: [failed]), .failed,
            says: ["T reported `stopped tls-failed`", "it reported: no trust"], Self.begins + "T expect secured")
        try await verify(.init(afterStartTLS: [failed]), .passed, Self.plain + "T expect stopped tls-failed")
        try await verify(
            .init(afterConnect: [Self.secured, .started, .stopped(.tlsTruncated, detail: nil)]), .passed,
            Self.begins + "T expect stopped tls-truncated")
    }

    @Test func unfinishedHandshakeFails() async throws {
        try await verify(
            .init(), .failed, says: ["did not report secured within 50ms"],
            Self.plain + "T expect secured within 50ms #!")
        // Operations of a subject wait until its upgrade to TLS is complete.
        try await verify(
            .init(), .failed, says: ["T reported neither `secured` nor `stopped` within 50ms"],
            "timeout 50ms\n" + Self.plain + "T send line \"x\" #!")
    }

    /// Reports that violate the rules, each with the beginning of its script and the expected failure.
    private static let violations: [(SecuringDriver.Script, String, String)] = [
        (.init(afterConnect: [.started]), begins, "started before its handshake was complete"),
        (.init(afterConnect: [secured, secured, .started]), begins, "alpn imap twice"),
        (.init(afterConnect: [.line([120])]), begins, "before it had reported `started`"),
        (.init(afterConnect: [secured, .line([120]), .started]), begins, "before it had reported `started`"),
        (
            .init(afterConnect: [.started, secured]), "subject T -> 127.0.0.1:1\nT start\n",
            "secured: TLS 1.3, alpn imap without being asked to begin TLS"
        ),
        (.init(afterStartTLS: [.line([120]), secured]), plain, "line \"x\" before its handshake was complete"),
        (.init(afterStartTLS: [secured, secured]), plain, "alpn imap twice"),
        (.init(refusal: "stopped", beforeAnswer: []), plain, "answered this op with the error stopped"),
    ]

    @Test(arguments: violations.indices)
    func reportOrderIsChecked(_ index: Int) async throws {
        let (script, text, says) = Self.violations[index]
        try await verify(script, .failed, says: [says], text + "T expect line \"y\"")
    }

    /// A line that arrived before the upgrade may be reported while the operation is running. A `leftover` reports the
    /// bytes that the subject discarded.
    @Test func earlierReportsAreNotViolations() async throws {
        try await verify(
            .init(afterStartTLS: [Self.secured], beforeAnswer: [.line([120])]), .passed,
            Self.plain + "T expect line \"x\"\nT expect secured")
        try await verify(
            .init(afterStartTLS: [.leftover([120]), .stopped(.tlsFailed, detail: nil)]), .passed,
            Self.plain + "T expect leftover \"x\"\nT expect stopped tls-failed")
        try await verify(
            .init(afterStartTLS: [Self.secured]), .passed, Self.plain + "T expect nothing for 20ms\nT expect secured")
    }

    @Test func transportWithoutTLSIsUnsupported() async throws {
        try await Scene("tls", .unsupported, says: ["bsd does not support tls"], Self.begins + "T expect secured")
            .verify()
        try await Scene(
            "starttls", .unsupported, says: ["bsd does not support start-tls"], Self.plain + "T expect secured"
        )
        .verify()
        for what in ["tls", "start-tls"] {
            try await Scene(
                what, .unsupported, says: ["bsd does not support \(what)"],
                "require subject \(what) #!\nsubject T -> 127.0.0.1:1\nT start\nT expect stopped"
            ).verify()
        }
    }
}
