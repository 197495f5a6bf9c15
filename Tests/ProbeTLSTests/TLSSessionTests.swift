import ProbeBase
@testable import ProbeTLS
import Testing

/// In these tests, both sides of each session use the code under test. End-to-end tests verify interoperability with
/// other implementations.
struct TLSSessionTests {
    static let authority = Result {
        try TLSLibrary.load()
        return try CertificateAuthority()
    }

    private func pair(
        _ version: TLSVersion? = nil, flaw: CertificateAuthority.Flaw? = nil, trusts: Bool = true,
        name: String = "localhost", change: (inout TLSContext.Options, inout TLSContext.Options) -> Void = { _, _ in }
    ) throws -> SessionPair {
        let authority = try Self.authority.get()
        return try SessionPair(
            version, certificate: try authority.leaf(flaw), trusting: trusts ? authority.certificate : nil, name: name,
            change: change)
    }

    @Test(arguments: TLSVersion.allCases)
    func bytesFlowInBothDirections(version: TLSVersion) throws {
        let pair = try pair(version)
        #expect(pair.handshake() == (.done, .done))
        #expect(pair.client.version == version && pair.server.version == version)
        #expect(pair.server.indicatedName == "localhost")
        #expect(pair.client.write(Array("hello".utf8)) == .done)
        pair.server.receive(pair.client.takeOutput())
        #expect(pair.server.readAll() == (Array("hello".utf8), .waits))
        #expect(pair.server.write(Array("220".utf8), recordLength: 1) == .done)
        let records = pair.server.takeOutput()
        #expect(Self.types(of: records).count == 3)
        pair.client.receive(records)
        #expect(pair.client.readAll().bytes == Array("220".utf8))
    }

    @Test(arguments: [
        (CertificateAuthority.Flaw.expired, "certificate-expired"), (.notYetValid, "bad-certificate"),
        (.selfSigned, "unknown-ca"), (.unknownAuthority, "unknown-ca"), (.otherName("other.test"), "bad-certificate"),
    ])
    func flawedCertificateIsRefused(flaw: CertificateAuthority.Flaw, alert: String) throws {
        let pair = try pair(flaw: flaw)
        let progress = pair.handshake()
        #expect(progress.client == .failed(TLSError("certificate verify failed")))
        #expect(pair.server.readAll().progress != .waits)
        #expect(pair.client.verificationProblem != nil)
        #expect(pair.client.alertsSent.map(\.description) == [alert])
        #expect(pair.server.alertsReceived.map(\.alert.description) == [alert])
    }

    @Test func clientWithoutAuthoritiesVerifiesNothing() throws {
        let pair = try pair(flaw: .expired, trusts: false)
        #expect(pair.handshake() == (.done, .done))
    }

    @Test func addressIsMatchedAgainstAddresses() throws {
        #expect(try pair(name: "127.0.0.1").handshake().client == .done)
        #expect(try pair(flaw: .otherName("127.0.0.9"), name: "127.0.0.1").handshake().client != .done)
    }

    @Test func closeNotifyIsRead() throws {
        let pair = try pair()
        pair.handshake()
        #expect(pair.server.notify() == .done)
        pair.client.receive(pair.server.takeOutput())
        #expect(pair.client.readAll().progress == .notified)
    }

    @Test func protocolIsNegotiated() throws {
        let pair = try pair { client, server in
            client.protocols = ["smtp", "imap"]
            server.protocols = ["imap"]
        }
        #expect(pair.handshake() == (.done, .done))
        #expect(pair.client.applicationProtocol == "imap" && pair.server.applicationProtocol == "imap")
        let none = try self.pair { client, server in
            client.protocols = ["smtp"]
            server.protocols = ["imap"]
        }
        #expect(none.handshake().server != .done)
        #expect(none.server.alertsSent.map(\.description) == ["no-application-protocol"])
    }

    @Test func clientCertificateIsRequested() throws {
        let authority = try Self.authority.get()
        let trusted = try authority.certificate.pem()
        let without = try pair(.tls12) { _, server in
            server.clientCertificate = .required
            server.trusted = [trusted]
        }
        #expect(without.handshake().server != .done)
        let own = try authority.leaf(nil)
        let with = try pair(.tls12) { client, server in
            client.identity = .made(own)
            server.clientCertificate = .required
            server.trusted = [trusted]
        }
        #expect(with.handshake() == (.done, .done))
    }

    @Test func sessionIsResumed() throws {
        let authority = try Self.authority.get()
        var options = TLSContext.Options(isServer: true)
        options.identity = .made(try authority.leaf(nil))
        let (server, client) = (try TLSContext(options), try TLSContext(.init(isServer: false)))
        let first = SessionPair(client: try TLSSession(client), server: try TLSSession(server))
        first.handshake()
        _ = first.client.readAll()
        #expect(!first.client.isResumed)
        let second = SessionPair(client: try TLSSession(client), server: try TLSSession(server))
        second.client.resume(first.client)
        #expect(second.handshake() == (.done, .done))
        #expect(second.client.isResumed && second.server.isResumed)
    }

    @Test func keyUpdatesAndTicketsCanBeSent() throws {
        let pair = try pair(.tls13)
        pair.handshake()
        #expect(pair.server.updateKey(isRequested: true) == .done)
        #expect(pair.server.sendTicket() == .done)
        #expect(pair.server.write(Array("behind".utf8)) == .done)
        pair.client.receive(pair.server.takeOutput())
        #expect(pair.client.readAll() == (Array("behind".utf8), .waits))
        let old = try self.pair(.tls12)
        old.handshake()
        #expect(old.server.requestHello() == .done)
        #expect(!old.server.takeOutput().isEmpty)
    }

    /// The secrets are recorded in NSS's key log format, which Wireshark can read.
    @Test func secretsAreRecorded() throws {
        let new = try pair(.tls13)
        new.handshake()
        #expect(
            Set(new.server.secrets.map { $0.split(separator: " ")[0] })
                .isSuperset(of: ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"]))
        let old = try pair(.tls12)
        old.handshake()
        #expect(old.client.secrets.map { $0.split(separator: " ")[0] } == ["CLIENT_RANDOM"])
    }

    // MARK: Forged records

    @Test(arguments: [true, false])
    func forgedRecordsAreAccepted(byServer: Bool) throws {
        let pair = try pair { client, server in
            client.forges = true
            server.forges = true
        }
        pair.handshake()
        let (own, peer) = byServer ? (pair.server, pair.client) : (pair.client, pair.server)
        // Forged records must continue the sequence numbers of the records that were sent before: tickets, data and a
        // key update.
        #expect(own.write([1, 2, 3]) == .done)
        #expect(own.updateKey(isRequested: false) == .done)
        #expect(own.write([4]) == .done)
        peer.receive(own.takeOutput())
        #expect(peer.readAll() == ([1, 2, 3, 4], .waits))
        peer.receive(try own.forge(type: 23, []))
        peer.receive(try own.forge(type: 23, [5, 6]))
        #expect(peer.readAll() == ([5, 6], .waits))
        peer.receive(try own.forge(type: 21, [1, 0]))
        peer.receive(try own.forge(type: 23, [7]))
        #expect(peer.readAll() == ([], .notified))
        #expect(peer.alertsReceived.map(\.alert.description) == ["close-notify"])
    }

    @Test func fatalAlertIsReported() throws {
        let pair = try pair { client, server in
            client.forges = true
            server.forges = true
        }
        pair.handshake()
        pair.client.receive(try pair.server.forge(type: 21, [2, 40]))
        guard case .failed = pair.client.readAll().progress else {
            Issue.record("no failure")
            return
        }
        #expect(pair.client.alertsReceived.map(\.alert) == [TLSAlert(level: 2, code: 40)])
        // After a forged record, the session's own records would have wrong sequence numbers, so the session drops
        // them.
        _ = pair.server.write([1])
        #expect(pair.server.takeOutput().isEmpty)
    }

    @Test func forgingNeedsACompletedHandshakeAndSuite() throws {
        let early = try pair { client, server in server.forges = true }
        #expect(throws: TLSError.self) { try early.server.forge(type: 23, [1]) }
        let other = try pair()
        other.handshake()
        #expect(throws: TLSError.self) { try other.server.forge(type: 23, [1]) }
    }

    // MARK: Files

    @Test func identityIsReadFromFiles() throws {
        let leaf = try Self.authority.get().leaf(nil)
        let (certificates, key) = (try leaf.pem(), try leaf.keyPEM())
        let pair = try pair { _, server in server.identity = .files(certificates: certificates, key: key) }
        #expect(pair.handshake() == (.done, .done))
    }

    @Test func mismatchedFilesAreRefused() throws {
        let (one, other) = (try Self.authority.get().leaf(nil), try Self.authority.get().leaf(.expired))
        let wrong: [(certificates: [UInt8], key: [UInt8])] = [
            (try one.pem(), try other.keyPEM()), (Array("nothing".utf8), try one.keyPEM()), (try one.pem(), []),
            (try one.pem() + Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8), try one.keyPEM()),
        ]
        for (certificates, key) in wrong {
            var options = TLSContext.Options(isServer: true)
            options.identity = .files(certificates: certificates, key: key)
            #expect(throws: TLSError.self) { try TLSContext(options) }
        }
        var options = TLSContext.Options(isServer: false)
        options.trusted = [Array("nothing".utf8)]
        #expect(throws: TLSError.self) { try TLSContext(options) }
    }

    /// Returns the content types in the headers of records.
    static func types(of records: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        var position = 0
        while position + 5 <= records.count {
            types.append(records[position])
            position += 5 + Int(records[position + 3]) << 8 + Int(records[position + 4])
        }
        return types
    }
}
