/// A version of TLS (RFC 5246, RFC 8446), as scripts spell it.
public enum TLSVersion: String, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
}
