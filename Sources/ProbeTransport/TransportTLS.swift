public import ProbeBase

/// How a transport begins TLS, as a client: whom it trusts, and what it says of itself.
public struct TransportTLS: Sendable, Equatable {
    /// The path of a PEM file with the certificates that are trusted, and no others.
    public var authorities: String
    /// The name or numeric address that the peer's certificate must be for. A name is sent as SNI (RFC 6066), an address is not.
    public var name: String
    /// The protocols that are offered (ALPN, RFC 7301), the preferred one first; without any the extension is left out.
    public var protocols: [[UInt8]]
    /// The only version to be spoken; nil: 1.2 or later.
    public var version: TLSVersion?

    /// With the defaults of the language: no ALPN, 1.2 or later.
    public init(authorities: String, name: String, protocols: [[UInt8]] = [], version: TLSVersion? = nil) {
        self.authorities = authorities
        self.name = name
        self.protocols = protocols
        self.version = version
    }
}

// MARK: As JSON

extension TransportTLS {
    var members: [JSONValue.Member] {
        [("ca", .string(authorities)), ("name", .string(name))]
            + (protocols.isEmpty ? [] : [("alpn", .array(protocols.map { .latin1($0) }))])
            + (version.map { [("version", .string($0.rawValue))] } ?? [])
    }

    /// - Throws: `invalid` if a required field is missing or has an invalid value.
    init(_ value: JSONValue) throws(AdapterRequestError.Refusal) {
        guard let authorities = value["ca"]?.text, let name = value["name"]?.text, !name.isEmpty else {
            throw .invalid
        }
        self.init(authorities: authorities, name: name)
        if let list = value["alpn"] {
            guard case .array(let words) = list else { throw .invalid }
            for word in words {
                // RFC 7301, 3.1: a length of one byte, which is not 0.
                guard let bytes = word.latin1, (1...255).contains(bytes.count) else { throw .invalid }
                protocols.append(bytes)
            }
        }
        if let word = value["version"] {
            guard let version = word.text.flatMap(TLSVersion.init) else { throw .invalid }
            self.version = version
        }
    }
}
