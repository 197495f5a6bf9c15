import ProbeBase
import ProbeTLS

/// A client and a server in memory, each of which receives the bytes that the other side writes.
final class SessionPair {
    let client: TLSSession
    let server: TLSSession

    init(client: TLSSession, server: TLSSession) {
        self.client = client
        self.server = server
    }

    convenience init(
        _ version: TLSVersion? = nil, certificate: Certificate, trusting authority: Certificate? = nil,
        name: String? = nil, change: (inout TLSContext.Options, inout TLSContext.Options) -> Void = { _, _ in }
    ) throws {
        var server = TLSContext.Options(isServer: true)
        var client = TLSContext.Options(isServer: false)
        server.identity = .made(certificate)
        if let authority { client.trusted = [try authority.pem()] }
        (server.version, client.version) = (version, version)
        change(&client, &server)
        self.init(
            client: try TLSSession(try TLSContext(client), indicated: name, verified: name),
            server: try TLSSession(try TLSContext(server)))
    }

    /// Exchanges bytes until neither side has anything to send.
    @discardableResult
    func handshake() -> (client: TLSSession.Progress, server: TLSSession.Progress) {
        var progress = (client: TLSSession.Progress.waits, server: TLSSession.Progress.waits)
        for _ in 0..<10 {
            if progress.client == .waits { progress.client = client.handshake() }
            server.receive(client.takeOutput())
            if progress.server == .waits { progress.server = server.handshake() }
            client.receive(server.takeOutput())
        }
        return progress
    }
}

extension TLSSession {
    /// Returns the bytes that can be read now, and the reason why no more bytes can be read.
    func readAll() -> (bytes: [UInt8], progress: Progress) {
        var bytes: [UInt8] = []
        let progress = read { bytes += $0 }
        return (bytes, progress)
    }
}
