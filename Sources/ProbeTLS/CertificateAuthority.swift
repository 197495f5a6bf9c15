import Synchronization

/// The certificate authority of a run, and the certificates that scripts request. Each certificate is created only
/// once.
package final class CertificateAuthority: Sendable {
    /// A flaw that a server's certificate may have.
    package enum Flaw: Hashable, Sendable {
        case expired
        case notYetValid
        case selfSigned
        /// The certificate was signed by an untrusted authority.
        case unknownAuthority
        /// The certificate is valid only for the given name.
        case otherName(String)
    }

    private struct Cache {
        var leaves: [Flaw?: Certificate] = [:]
        var otherAuthority: Certificate?
    }

    package let certificate: Certificate
    private let made = Mutex(Cache())

    package init() throws(TLSError) {
        certificate = try Certificate(Self.authority(named: "tcpprobe run"), issuer: nil)
    }

    /// Returns a certificate for `localhost`, 127.0.0.1 and ::1 with the given flaw, or without a flaw if `flaw` is
    /// `nil`.
    package func leaf(_ flaw: Flaw?) throws(TLSError) -> Certificate {
        try made.withLock { (made) throws(TLSError) in
            if let known = made.leaves[flaw] { return known }
            var contents = Certificate.Contents(
                commonName: "localhost", names: ["localhost"], addresses: ["127.0.0.1", "::1"])
            var issuer: Certificate? = certificate
            switch flaw {
            case .expired: (contents.notBefore, contents.notAfter) = (-2 * 86_400, -86_400)
            case .notYetValid: (contents.notBefore, contents.notAfter) = (86_400, 2 * 86_400)
            case .selfSigned: issuer = nil
            case .unknownAuthority:
                if made.otherAuthority == nil {
                    made.otherAuthority = try Certificate(Self.authority(named: "unknown"), issuer: nil)
                }
                issuer = made.otherAuthority
            case .otherName(let name):
                // A numeric address is added to the certificate's IP addresses; any other name is added to its host
                // names.
                let isAddress =
                    name.utf8.contains(UInt8(ascii: ":")) || name.split(separator: ".").allSatisfy { UInt8($0) != nil }
                contents = .init(
                    commonName: name, names: isAddress ? [] : [name], addresses: isAddress ? [name] : [])
            case nil: break
            }
            let leaf = try Certificate(contents, issuer: issuer)
            made.leaves[flaw] = leaf
            return leaf
        }
    }

    private static func authority(named name: String) -> Certificate.Contents {
        var contents = Certificate.Contents(commonName: name)
        contents.isAuthority = true
        return contents
    }
}
