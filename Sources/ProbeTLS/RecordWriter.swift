import COpenSSL

/// Writes TLS 1.3 records that OpenSSL refuses to write, encrypted with TLS_AES_128_GCM_SHA256 (RFC 8446, sections 5.2
/// and 7.3).
struct RecordWriter {
    private var key: [UInt8]
    private var iv: [UInt8]
    /// The sequence number of the next record.
    private var sequence: UInt64

    init(secret: [UInt8], sequence: UInt64) throws(TLSError) {
        key = try Self.expand(secret, "key", 16)
        iv = try Self.expand(secret, "iv", 12)
        self.sequence = sequence
    }

    /// Returns the traffic secret that follows `secret` after a KeyUpdate (RFC 8446, section 7.2).
    static func updated(_ secret: [UInt8]) throws(TLSError) -> [UInt8] { try expand(secret, "traffic upd", 32) }

    /// Returns the next record, encrypted.
    ///
    /// - Parameter bytes: at most 65,518 bytes, because a record's length field has two bytes. If there are more than
    ///   ``TLSSession/longestRecord`` bytes, the peer must reject the record.
    mutating func record(type: UInt8, _ bytes: [UInt8]) throws(TLSError) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: bytes.count + 22)
        if probe_tls_seal(key, iv, sequence, type, bytes, bytes.count, &record) != 1 { throw .last() }
        sequence += 1
        return record
    }

    private static func expand(_ secret: [UInt8], _ label: String, _ count: Int) throws(TLSError) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count)
        if probe_tls_expand(secret, label, &out, count) != 1 { throw .last() }
        return out
    }
}
