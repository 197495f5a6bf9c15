import COpenSSL
import Synchronization

/// A certificate and its key, made in the process.
///
/// `@unchecked Sendable`: nothing changes it after it was made, and OpenSSL counts its references atomically.
package final class Certificate: @unchecked Sendable {
    /// What a certificate says.
    package struct Contents: Hashable, Sendable {
        package var commonName: String
        /// Names and numeric addresses that it is for.
        package var names: [String] = []
        package var addresses: [String] = []
        /// Seconds from now.
        package var notBefore = -3_600
        package var notAfter = 30 * 86_400
        package var isAuthority = false

        package init(commonName: String, names: [String] = [], addresses: [String] = []) {
            self.commonName = commonName
            self.names = names
            self.addresses = addresses
        }
    }

    let pointer: OpaquePointer

    /// - Parameter issuer: nil for one that has signed itself.
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

    /// The certificate, as PEM.
    package func pem() throws(TLSError) -> [UInt8] { try pem(ofTheKey: false) }

    /// Its key, as PEM.
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

    /// No two certificates of an issuer may share a number (RFC 5280, 4.1.2.2).
    private static func nextSerial() -> UInt64 { serial.add(1, ordering: .relaxed).newValue }

    // Behind the time at which the process began, so that two runs differ: who has trusted a certificate of one run may keep it.
    private static let serial = Atomic<UInt64>(UInt64.random(in: 1..<(1 << 62)))
}
