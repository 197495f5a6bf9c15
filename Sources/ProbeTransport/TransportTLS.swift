public import ProbeBase

/// How a transport starts TLS, as a client: which certificates it trusts, and what it offers.
public struct TransportTLS: Sendable, Equatable {
    /// The path of a PEM file with the trusted certificates. No other certificates are trusted.
    public var authorities: String
    /// The name or numeric address that the peer's certificate must match. A name is also sent as SNI (RFC 6066); an
    /// address is not sent.
    public var name: String
    /// The offered protocols (ALPN, RFC 7301), in order of preference. If the list is empty, the ALPN extension is
    /// omitted.
    public var protocols: [[UInt8]]
    /// The only TLS version that may be used; `nil` for 1.2 or later.
    public var version: TLSVersion?

    /// Creates a configuration with the scenario language's defaults: no ALPN, TLS 1.2 or later.
    public init(authorities: String, name: String, protocols: [[UInt8]] = [], version: TLSVersion? = nil) {
        self.authorities = authorities
        self.name = name
        self.protocols = protocols
        self.version = version
    }
}

// MARK: As JSON

extension TransportTLS {
    static let codec = JSONCodec.object(
        TransportTLS(authorities: "", name: ""),
        [
            .required("ca", \.authorities, .text), .required("name", \.name, .nonEmptyText),
            .list("alpn", \.protocols, .list(of: protocolName), writesEmpty: false),
            .optional("version", \.version, .word),
        ])

    /// RFC 7301, section 3.1: the length of a protocol name is encoded in one byte and is not 0.
    private static let protocolName = JSONCodec<[UInt8]>(
        "a string of 1 to 255 bytes", encode: { .latin1($0) },
        decode: { value, _ in value.latin1.flatMap { (1...255).contains($0.count) ? $0 : nil } })
}
