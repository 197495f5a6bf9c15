import COpenSSL
import Synchronization

/// A certificate and its key, created in this process.
///
/// `@unchecked Sendable`: a certificate is immutable after its creation, and OpenSSL's reference counts are atomic.
package final class Certificate: @unchecked Sendable {
    /// The contents of a certificate.
    package struct Contents: Hashable, Sendable {
        package var commonName: String
        /// The host names that the certificate is valid for.
        package var names: [String] = []
        /// The IP addresses that the certificate is valid for, as text.
        package var addresses: [String] = []
        /// The beginning of the validity period, in seconds from now.
        package var notBefore = -3_600
        /// The end of the validity period, in seconds from now.
        package var notAfter = 30 * 86_400
        package var isAuthority = false

        package init(commonName: String, names: [String] = [], addresses: [String] = []) {
            self.commonName = commonName
            self.names = names
            self.addresses = addresses
        }
    }

    let pointer: OpaquePointer

    /// Creates a certificate.
    ///
    /// - Parameter issuer: the certificate that signs the new one; `nil` for a self-signed one.
    package init(_ contents: Contents, issuer: Certificate?) throws(TLSError) {
        try TLSLibrary.require()
        let alternatives =
            contents.names.map { "DNS:\($0)" } + contents.addresses.map { "IP:\($0)" }
        let made = contents.commonName.withCString { name in
            alternatives.joined(separator: ",").withCString { list in
                var request = probe_tls_certificate_request()
                request.common_name = name
                request.alternative_names = alternatives.isEmpty ? nil : list
                request.not_before = contents.notBefore
                request.not_after = contents.notAfter
                request.serial = Self.nextSerial()
                request.is_authority = contents.isAuthority ? 1 : 0
                return probe_tls_certificate_new(&request, issuer?.pointer)
            }
        }
        guard let made else { throw .last() }
        pointer = made
    }

    deinit { probe_tls_certificate_free(pointer) }

    /// Returns the certificate as PEM.
    package func pem() throws(TLSError) -> [UInt8] { try pem(ofTheKey: false) }

    /// Returns the key as PEM.
    package func keyPEM() throws(TLSError) -> [UInt8] { try pem(ofTheKey: true) }

    private func pem(ofTheKey: Bool) throws(TLSError) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: 8_192) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) {
                probe_tls_certificate_pem(pointer, ofTheKey ? 1 : 0, $0.baseAddress, $0.count)
            }
        }
        if bytes.isEmpty { throw .last() }
        return bytes
    }

    /// Returns a new serial number. No two certificates of an issuer may have the same serial number (RFC 5280, section
    /// 4.1.2.2).
    private static func nextSerial() -> UInt64 { serial.add(1, ordering: .relaxed).newValue }

    // Serial numbers start at a random value, so that runs use different numbers. A certificate of an earlier run may
    // still be trusted somewhere.
    private static let serial = Atomic<UInt64>(UInt64.random(in: 1..<(1 << 62)))
}
