import ProbeBase

/// The TLS records in one direction of a connection, as determined from their headers alone (RFC 8446, section 5.1).
///
/// Unencrypted data may precede the first record, as with STARTTLS. The first record is recognized only if it begins
/// with a ClientHello, a ServerHello or an unencrypted alert; a byte with the value 22 alone is not sufficient. All
/// bytes after the first record must also belong to records. Nothing is counted after the first bytes that are not a
/// record, because the start of the next record is unknown. The parser never traps on any input.
package struct TLSRecords: Equatable {
    /// The offset of the first record; `nil` if no record has begun.
    private(set) var start: Int?
    /// The number of complete records.
    private(set) var count = 0
    /// The state of the bytes after the last complete record.
    private(set) var rest = Rest.nothing

    enum Rest: Equatable {
        case nothing
        /// An unfinished record of which `seen` bytes are present. `total` is the record's length; `nil` if its header
        /// is unfinished.
        case unfinished(offset: Int, seen: Int, total: Int?)
        case noRecord(offset: Int, Flaw)
    }

    enum Flaw: Equatable {
        case contentType(UInt8)
        case version(UInt8, UInt8)
        case tooLong(Int)
        /// The record is empty, which is allowed only for application data.
        case empty(UInt8)
    }

    /// The maximum length of a record's content: 2^14 bytes plus the expansion that TLS 1.2 allows a cipher (RFC 5246,
    /// section 6.2.3). TLS 1.3 allows less.
    static let longest = (1 << 14) + 2048
    private static let headerLength = 5
    private static let (alert, handshake, applicationData): (UInt8, UInt8, UInt8) = (21, 22, 23)

    /// Parses the records of a stream.
    ///
    /// - Parameter startsAtOnce: whether the first record begins at the first byte, whatever the byte's value is.
    init(_ bytes: Span<UInt8>, startsAtOnce: Bool) {
        start = startsAtOnce ? (bytes.count > 0 ? 0 : nil) : Self.start(in: bytes)
        guard var offset = start else { return }
        while offset < bytes.count {
            let header = bytes.extracting(offset..<min(offset + Self.headerLength, bytes.count))
            if let flaw = Self.flaw(of: header) {
                rest = .noRecord(offset: offset, flaw)
                return
            }
            let total = Self.length(header).map { Self.headerLength + $0 }
            guard let total, total <= bytes.count - offset else {
                rest = .unfinished(offset: offset, seen: bytes.count - offset, total: total)
                return
            }
            count += 1
            offset += total
        }
    }

    // MARK: Headers

    /// Returns the first flaw in a header that may be incomplete; `nil` if the bytes that are present are valid.
    private static func flaw(of header: Span<UInt8>) -> Flaw? {
        guard header.count > 0 else { return nil }
        guard 20...24 ~= header[0] else { return .contentType(header[0]) }
        if header.count > 1, header[1] != 3 { return .version(header[1], header.count > 2 ? header[2] : 0) }
        if header.count > 2, header[2] > 4 { return .version(header[1], header[2]) }
        guard let length = length(header) else { return nil }
        if length > longest { return .tooLong(length) }
        return length == 0 && header[0] != applicationData ? .empty(header[0]) : nil
    }

    private static func length(_ header: Span<UInt8>) -> Int? {
        header.count < headerLength ? nil : Int(header[3]) << 8 | Int(header[4])
    }

    // MARK: The first record

    /// Returns the number of bytes at the beginning of a stream that are certainly unencrypted, and whether the first
    /// record begins directly after these bytes. If no record begins there, the remaining bytes may be the incomplete
    /// beginning of a record, and more bytes are needed to decide.
    package static func plainText(in bytes: Span<UInt8>) -> (length: Int, isFollowedByRecord: Bool) {
        var offset = 0
        while let candidate = bytes.firstIndex(of: handshake, or: alert, from: offset) {
            switch beginning(bytes.extracting(candidate..<bytes.count)) {
            case .record: return (candidate, true)
            // More bytes are needed to decide whether a record begins at the candidate. The bytes end inside it, so no
            // later candidate needs to be examined.
            case .undecided: return (candidate, false)
            case .other: offset = candidate + 1
            }
        }
        return (bytes.count, false)
    }

    private static func start(in bytes: Span<UInt8>) -> Int? {
        let plain = plainText(in: bytes)
        return plain.isFollowedByRecord ? plain.length : nil
    }

    private enum Beginning { case record, undecided, other }

    /// Returns whether the bytes begin with a record that contains a ClientHello, a ServerHello or an unencrypted
    /// alert.
    private static func beginning(_ bytes: Span<UInt8>) -> Beginning {
        if flaw(of: bytes) != nil { return .other }
        guard let length = length(bytes) else { return .undecided }
        if length > 1 << 14 || bytes[0] == alert && length != 2 { return .other }
        guard bytes.count > headerLength else { return .undecided }
        // The first byte after the record header is the level of an alert (1 is a warning, 2 is a fatal alert) or the
        // type of a handshake message (1 is a ClientHello, 2 is a ServerHello).
        guard 1...2 ~= bytes[5] else { return .other }
        if bytes[0] == alert { return bytes.count < 7 ? .undecided : .record }
        // The protocol version follows the message's type and length. The version is in this record unless the message
        // is split into very short records.
        if length < 6 { return .record }
        if bytes.count > 9, bytes[9] != 3 { return .other }
        if bytes.count > 10 { return bytes[10] <= 4 ? .record : .other }
        return .undecided
    }
}

extension TLSRecords.Flaw: CustomStringConvertible {
    var description: String {
        switch self {
        case .contentType(let type): "byte \(type) is not a TLS content type (20 to 24)"
        case .version(let major, let minor): "its version is \(major).\(minor)"
        case .tooLong(let length): "its length of \(length) bytes exceeds the maximum of \(TLSRecords.longest)"
        case .empty(let type): "it is empty but has content type \(type); only application data (23) may be empty"
        }
    }
}
