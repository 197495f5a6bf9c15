import ProbeBase

/// The TLS records in one direction of a connection, by their headers alone (RFC 8446, 5.1).
///
/// Plaintext may precede the first record, as with STARTTLS. The first record begins with a ClientHello, a ServerHello
/// or an alert in the clear: a single byte 22 does not begin one. From there on records follow one another; after the
/// first bytes that are not a record, nothing is counted, because the start of the next record can't be known. Never
/// traps on any input.
package struct TLSRecords: Equatable {
    /// The offset of the first record; `nil` if none has begun.
    private(set) var start: Int?
    /// The number of whole records.
    private(set) var count = 0
    /// What follows the last whole record.
    private(set) var rest = Rest.nothing

    enum Rest: Equatable {
        case nothing
        /// A record of which `seen` bytes are present; `total` is `nil` as long as its header is unfinished.
        case unfinished(offset: Int, seen: Int, total: Int?)
        case noRecord(offset: Int, Flaw)
    }

    enum Flaw: Equatable {
        case contentType(UInt8)
        case version(UInt8, UInt8)
        case tooLong(Int)
        /// Only application data may be empty.
        case empty(UInt8)
    }

    /// The longest record: 2^14 and what TLS 1.2 allows a cipher to add (RFC 5246, 6.2.3); TLS 1.3 allows less.
    static let longest = (1 << 14) + 2048
    private static let headerLength = 5
    private static let (alert, handshake, applicationData): (UInt8, UInt8, UInt8) = (21, 22, 23)

    /// Parses the records of a stream.
    ///
    /// - Parameter startsAtOnce: whether the first byte belongs to the first record, whatever it is.
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

    /// Returns what shows that the header is invalid, from as many of its bytes as are present.
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

    /// Returns how many bytes at the beginning of a stream are certainly plain text, and whether the first record
    /// begins after them. If it does not, the rest may still begin a record, and more bytes decide.
    package static func plainText(in bytes: Span<UInt8>) -> (length: Int, isFollowedByRecord: Bool) {
        var offset = 0
        while let candidate = bytes.firstIndex(of: handshake, or: alert, from: offset) {
            switch beginning(bytes.extracting(candidate..<bytes.count)) {
            case .record: return (candidate, true)
            // As long as it is undecided, it reaches to the end.
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

    /// Returns whether a hello or an alert in the clear begins here.
    private static func beginning(_ bytes: Span<UInt8>) -> Beginning {
        if flaw(of: bytes) != nil { return .other }
        guard let length = length(bytes) else { return .undecided }
        if length > 1 << 14 || bytes[0] == alert && length != 2 { return .other }
        guard bytes.count > headerLength else { return .undecided }
        // The level of an alert or the type of a handshake message: a warning, a fatal alert, a ClientHello, a
        // ServerHello.
        guard 1...2 ~= bytes[5] else { return .other }
        if bytes[0] == alert { return bytes.count < 7 ? .undecided : .record }
        // The version follows the message's type and length: in this record, unless the message is cut into small ones.
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
