/// A TLS alert. The codes are defined in RFC 8446, section 6 and, for earlier versions of TLS, in RFC 5246, section
/// 7.2.
package struct TLSAlert: Hashable, Sendable, CustomStringConvertible {
    package enum Level: UInt8, Sendable {
        case warning = 1
        case fatal = 2
    }

    /// The level byte as sent; ``Level`` names the values 1 and 2.
    package var level: UInt8
    package var code: UInt8

    package init(level: UInt8, code: UInt8) {
        self.level = level
        self.code = code
    }

    /// The name of the alert's code; the number if the code has no name.
    package var description: String { Self.names[code] ?? String(code) }

    package static let userCanceled: UInt8 = 90
    package static let closeNotify: UInt8 = 0

    /// Returns the code of the alert with this name in a script; `nil` if no alert has this name.
    package static func code(named name: String) -> UInt8? { names.first { $0.value == name }?.key }

    /// The names of the codes in the RFCs, with `-` instead of `_`.
    package static let names: [UInt8: String] = [
        0: "close-notify", 10: "unexpected-message", 20: "bad-record-mac", 21: "decryption-failed",
        22: "record-overflow",
        30: "decompression-failure", 40: "handshake-failure", 41: "no-certificate", 42: "bad-certificate",
        43: "unsupported-certificate", 44: "certificate-revoked", 45: "certificate-expired", 46: "certificate-unknown",
        47: "illegal-parameter", 48: "unknown-ca", 49: "access-denied", 50: "decode-error", 51: "decrypt-error",
        60: "export-restriction", 70: "protocol-version", 71: "insufficient-security", 80: "internal-error",
        86: "inappropriate-fallback", 90: "user-canceled", 100: "no-renegotiation", 109: "missing-extension",
        110: "unsupported-extension", 111: "certificate-unobtainable", 112: "unrecognized-name",
        113: "bad-certificate-status-response", 114: "bad-certificate-hash-value", 115: "unknown-psk-identity",
        116: "certificate-required", 120: "no-application-protocol",
    ]
}
