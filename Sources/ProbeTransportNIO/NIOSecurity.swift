import NIOCore
import NIOSSL
import ProbeBase
import ProbeTransport

/// TLS for one connection, implemented with NIOSSL, as a client that verifies both the certificate chain and the name.
///
/// If the name is a numeric address, NIOSSL can verify only the address to which the connection was made, so the name
/// must be that address. A numeric address is not sent as SNI.
struct NIOSecurity: Sendable {
    private let context: NIOSSLContext
    /// The host name to verify; `nil` if the peer is identified by a numeric address.
    private let name: String?

    /// The time to wait for the peer's close_notify, after this side has sent its own close_notify, before the channel
    /// is closed. NIOSSL's default of five seconds is longer than a peer waits for the FIN.
    private static let shutdownTimeout = TimeAmount.milliseconds(250)

    /// Creates the TLS settings of one connection.
    ///
    /// - Throws: `unsupported` for a name or a protocol that NIOSSL can't express; `other` with NIOSSL's error for
    ///   invalid authorities.
    init(_ tls: TransportTLS, to host: String) throws(TransportError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(tls.authorities)
        configuration.certificateVerification = .fullVerification
        configuration.shutdownTimeout = Self.shutdownTimeout
        configuration.minimumTLSVersion = tls.version == .tls13 ? .tlsv13 : .tlsv12
        if tls.version == .tls12 { configuration.maximumTLSVersion = .tlsv12 }
        for bytes in tls.protocols {
            guard let word = String(validating: bytes, as: UTF8.self) else { throw .unsupported }
            configuration.applicationProtocols.append(word)
        }
        // NIO's error is ignored, because it means only that the name is not an address.
        let isAddress = (try? NIOCore.SocketAddress(ipAddress: tls.name, port: 0)) != nil
        if isAddress, tls.name != host { throw .unsupported }
        name = isAddress ? nil : tls.name
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .other("\(tls.authorities): \(error)")
        }
    }

    /// Returns a TLS handler for one channel.
    func makeHandler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// The TLS version negotiated in the handshake; `nil` if no version has been negotiated, or for a version other
    /// than TLS 1.2 and TLS 1.3.
    var negotiatedVersion: ProbeBase.TLSVersion? {
        // `nioSSL_tlsVersion` fails only if no TLS handler is in the pipeline.
        switch (try? nioSSL_tlsVersion()) ?? nil {
        case .tlsv12: .tls12
        case .tlsv13: .tls13
        default: nil
        }
    }

    /// Closes the channel without a close_notify.
    func closeAbruptly() {
        // Finding the TLS handler fails only if none is in the pipeline. Without a TLS handler, no close_notify is sent
        // anyway.
        if let handler = try? handler(type: NIOSSLClientHandler.self), let context = try? context(handler: handler) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
