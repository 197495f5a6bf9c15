import COpenSSL
package import ProbeBase

/// The TLS configuration shared by all connections of an actor: its certificate, its trusted authorities, and the
/// parameters that it offers.
///
/// Sessions keep a reference to their context. A context is confined to the same thread as its sessions.
package final class TLSContext {
    package enum ClientCertificate: Sendable {
        case notAsked
        case asked
        case required

        fileprivate var wanted: probe_tls_client_certificate {
            switch self {
            case .notAsked: PROBE_TLS_NOT_ASKED
            case .asked: PROBE_TLS_ASKED
            case .required: PROBE_TLS_REQUIRED
            }
        }
    }

    /// The actor's own certificate and key.
    package enum Identity {
        case made(Certificate)
        /// The contents of two PEM files, one with certificates and one with the key. The first certificate is the
        /// actor's own, and the others form its chain.
        case files(certificates: [UInt8], key: [UInt8])
    }

    package struct Options {
        package var isServer: Bool
        /// The only version that is allowed; `nil` to allow TLS 1.2 and TLS 1.3.
        package var version: TLSVersion?
        package var identity: Identity?
        /// The trusted authorities, in PEM. A client without trusted authorities does not verify its peer.
        package var trusted: [[UInt8]] = []
        package var clientCertificate = ClientCertificate.notAsked
        package var protocols: [String] = []
        /// The number of session tickets that a server sends; `nil` for OpenSSL's default of two.
        package var tickets: Int?
        /// Whether records may be forged on the connections that use this context.
        package var forges = false

        package init(isServer: Bool) { self.isServer = isServer }
    }

    let pointer: OpaquePointer
    package let isServer: Bool
    package let isForging: Bool

    package init(_ options: Options) throws(TLSError) {
        try TLSLibrary.require()
        let lowest = options.forges ? TLSVersion.tls13 : options.version ?? .tls12
        guard
            let made = probe_tls_context_new(
                options.isServer ? 1 : 0, lowest.number, (options.version ?? .tls13).number)
        else { throw .last() }
        pointer = made
        isServer = options.isServer
        isForging = options.forges
        // If this call throws, `deinit` frees the pointer.
        try configure(options)
    }

    deinit { probe_tls_context_free(pointer) }

    private func configure(_ options: Options) throws(TLSError) {
        switch options.identity {
        case .made(let certificate): try check(probe_tls_context_use(pointer, certificate.pointer))
        case .files(let certificates, let key):
            let done = certificates.withUnsafeBufferPointer { certificates in
                key.withUnsafeBufferPointer { key in
                    certificates.withMemoryRebound(to: CChar.self) { certificates in
                        key.withMemoryRebound(to: CChar.self) { key in
                            probe_tls_context_use_pem(
                                pointer, certificates.baseAddress, certificates.count, key.baseAddress, key.count)
                        }
                    }
                }
            }
            try check(done)
        case nil: break
        }
        for authority in options.trusted {
            try check(
                authority.withUnsafeBufferPointer { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        probe_tls_context_trust_pem(pointer, $0.baseAddress, $0.count)
                    }
                })
        }
        if isServer || !options.trusted.isEmpty {
            try check(probe_tls_context_verify(pointer, options.clientCertificate.wanted))
        }
        if !options.protocols.isEmpty {
            // A protocol name is 1 to 255 bytes long (RFC 7301).
            let list = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            try check(probe_tls_context_set_alpn(pointer, list, list.count))
        }
        if let tickets = options.tickets { try check(probe_tls_context_set_tickets(pointer, tickets)) }
        if options.forges { try check(probe_tls_context_use_one_suite(pointer)) }
    }

    private func check(_ done: Int32) throws(TLSError) {
        if done != 1 { throw .last() }
    }
}

extension TLSVersion {
    /// The version number that records and OpenSSL use.
    var number: Int32 {
        switch self {
        case .tls12: 0x303
        case .tls13: 0x304
        }
    }

    init?(number: Int32) {
        guard let version = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = version
    }
}
