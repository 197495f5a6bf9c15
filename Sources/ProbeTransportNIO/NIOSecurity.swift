import NIOCore
import NIOSSL
import ProbeBase
import ProbeTransport

/// TLS for one connection by NIOSSL, as a client that verifies both the chain and the name.
///
/// A numeric name is verified against the address that the connection leads to, because NIOSSL offers nothing else; it
/// is not sent as SNI.
struct NIOSecurity: Sendable {
    private let context: NIOSSLContext
    /// The name; `nil` if it is an address.
    private let name: String?

    /// The time to wait for the peer's close_notify after ours before the channel is closed. NIOSSL's own five seconds
    /// are longer than a peer waits for the FIN.
    private static let shutdownTimeout = TimeAmount.milliseconds(250)

    /// Creates the TLS settings of one connection.
    ///
    /// - Throws: `unsupported` for a name or a protocol that NIOSSL can't express; NIOSSL's error for invalid
    ///   authorities.
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
        // NIO's error says only that the name is not an address.
        let isAddress = (try? NIOCore.SocketAddress(ipAddress: tls.name, port: 0)) != nil
        if isAddress, tls.name != host { throw .unsupported }
        name = isAddress ? nil : tls.name
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .other("\(tls.authorities): \(error)")
        }
    }

    /// Returns the handler of one channel.
    func makeHandler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// The version that the handshake has negotiated; `nil` for a version that the transport does not speak.
    var negotiatedVersion: ProbeBase.TLSVersion? {
        // Fails only if no TLS handler is in the pipeline.
        switch (try? nioSSL_tlsVersion()) ?? nil {
        case .tlsv12: .tls12
        case .tlsv13: .tls13
        default: nil
        }
    }

    /// Closes the channel without a close_notify.
    func closeAbruptly() {
        // Fails only if no TLS handler is in the pipeline, and then there is no close_notify either.
        if let handler = try? handler(type: NIOSSLClientHandler.self), let context = try? context(handler: handler) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
