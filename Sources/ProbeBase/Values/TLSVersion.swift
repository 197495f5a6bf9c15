/// A version of TLS (RFC 5246, RFC 8446). The raw values are the versions as written in scripts.
public enum TLSVersion: String, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
}
