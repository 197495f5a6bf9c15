import COpenSSL
import ProbeBase

/// A log of the information that OpenSSL passes to its callbacks about a session.
final class SessionLog {
    private let isServer: Bool
    /// The lines of the key log, in NSS's key log format.
    private(set) var secrets: [String] = []
    /// The peer's alerts, each with the number of plaintext bytes that had been read before it.
    private(set) var received: [(alert: TLSAlert, offset: Int)] = []
    private(set) var sent: [TLSAlert] = []
    private(set) var hasTicket = false
    /// The number of plaintext bytes that have been read.
    var read = 0
    /// The initial traffic secret of this side's direction (TLS 1.3).
    private(set) var ownSecret: [UInt8]?
    /// The number of times that the secret has been updated.
    private(set) var ownUpdates = 0
    /// The number of records that have been written with the current key.
    private(set) var ownRecords: UInt64 = 0

    init(isServer: Bool) { self.isServer = isServer }

    var observer: probe_tls_observer {
        probe_tls_observer(
            context: Unmanaged.passUnretained(self).toOpaque(),
            key_log: { context, line in
                guard let context, let line else { return }
                Unmanaged<SessionLog>.fromOpaque(context).takeUnretainedValue().noteSecret(String(cString: line))
            },
            message: { context, isSent, type, bytes, count in
                guard let context else { return }
                Unmanaged<SessionLog>.fromOpaque(context).takeUnretainedValue()
                    .note(isSent: isSent != 0, type: type, UnsafeBufferPointer(start: bytes, count: count))
            })
    }

    private func noteSecret(_ line: String) {
        secrets.append(line)
        let fields = line.split(separator: " ")
        if fields.count == 3, fields[0] == (isServer ? "SERVER_TRAFFIC_SECRET_0" : "CLIENT_TRAFFIC_SECRET_0") {
            ownSecret = Self.bytes(ofHexadecimal: fields[2])
            (ownUpdates, ownRecords) = (0, 0)
        }
    }

    private static func bytes(ofHexadecimal text: Substring) -> [UInt8] {
        let digits = text.utf8.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func note(isSent: Bool, type: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        switch type {
        // Type 256 denotes a record header.
        case 256: if isSent { ownRecords += 1 }
        case 21:
            guard bytes.count == 2 else { return }
            let alert = TLSAlert(level: bytes[0], code: bytes[1])
            if isSent { sent.append(alert) } else { received.append((alert, read)) }
        // After this side has sent a KeyUpdate (message type 24), its next key is in use.
        case 22:
            if isSent, bytes.first == 24 { (ownUpdates, ownRecords) = (ownUpdates + 1, 0) }
            if !isSent, bytes.first == 4 { hasTicket = true }
        default: break
        }
    }
}
