import NIOCore
import NIOSSL
import ProbeBase
import ProbeTransport

/// TLS of one connection by NIOSSL, as a client that verifies fully: chain and name.
///
/// A numeric name is verified against the address that the connection leads to, as NIOSSL offers nothing else; it is
/// sent as no SNI.
struct NIOSecurity: Sendable {
    private let context: NIOSSLContext
    /// Nil where the name is an address.
    private let name: String?

    /// How long the peer's close_notify is waited for behind ours before the channel is closed. NIOSSL's own five seconds
    /// are longer than a peer waits for the FIN.
    private static let shutdownTimeout = TimeAmount.milliseconds(250)

    /// - Throws: `unsupported` for a name or a protocol that NIOSSL can't express; what NIOSSL says of the authorities.
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
        // NIO's error says no more than that it is no address.
        let isAddress = (try? NIOCore.SocketAddress(ipAddress: tls.name, port: 0)) != nil
        if isAddress, tls.name != host { throw .unsupported }
        name = isAddress ? nil : tls.name
        do {
            context = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .other("\(tls.authorities): \(error)")
        }
    }

    /// The handler of one channel.
    func makeHandler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// What the finished handshake has agreed on; nil for a version that the transport does not speak.
    var agreedVersion: ProbeBase.TLSVersion? {
        // Fails only where no handler of TLS is in the pipeline.
        switch (try? nioSSL_tlsVersion()) ?? nil {
        case .tlsv12: .tls12
        case .tlsv13: .tls13
        default: nil
        }
    }

    /// Closes the channel without a close_notify.
    func closeAbruptly() {
        // Fails only where no handler of TLS is in the pipeline: then there is no close_notify either.
        if let handler = try? handler(type: NIOSSLClientHandler.self), let context = try? context(handler: handler) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
