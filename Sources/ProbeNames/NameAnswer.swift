import ProbeBase

/// A DNS answer and its encoding (RFC 1035, section 4; RFC 3596; RFC 2308; RFC 6891).
struct NameAnswer {
    var code: NameResponseCode
    /// The addresses in the answer, all of them of the requested type.
    var addresses: [IPAddress] = []
    var timeToLive: UInt32 = 0

    /// The maximum size of a UDP answer, even if the client accepts larger answers.
    private static let largestDatagram = 1232
    private static let start: UInt16 = 1
    private static let optionType: UInt16 = 41

    /// Returns the encoded answer.
    ///
    /// - Parameter isDatagram: whether the answer is sent over UDP. An answer that is too long for UDP is truncated, so
    ///   that the client retries over TCP.
    func bytes(to question: NameQuestion, isDatagram: Bool) -> [UInt8] {
        let limit = isDatagram ? min(question.largest ?? 512, Self.largestDatagram) : Int(UInt16.max)
        let whole = encoded(question, isCut: false)
        return whole.count <= limit ? whole : encoded(question, isCut: true)
    }

    /// Returns the error response to a message that is not an acceptable question.
    static func bytes(refusing header: NameQuestion.Header, with code: NameResponseCode) -> [UInt8] {
        let hasOption = code == .badVersion
        var bytes = self.header(
            header.id, flags: header.flags & 0x7910 | 0x8080 | code.rawValue & 0xf,
            counts: [0, 0, 0, hasOption ? 1 : 0])
        if hasOption { bytes += option(code) }
        return bytes
    }

    private func encoded(_ question: NameQuestion, isCut: Bool) -> [UInt8] {
        let flags: UInt16 =
            0x8080 | UInt16(question.operation) << 11 | (isCut ? 0x0200 : 0) | (question.isRecursive ? 0x0100 : 0)
            | (question.isUnchecked ? 0x0010 : 0) | code.rawValue & 0xf
        // A server failure provides no information about the name, not even that it does not exist.
        let isNegative = addresses.isEmpty && code != .serverFailure
        let counts = [1, isCut ? 0 : addresses.count, isNegative ? 1 : 0, question.largest == nil ? 0 : 1]
        var bytes = Self.header(question.id, flags: flags, counts: counts)
        bytes += question.section
        if !isCut { for address in addresses { bytes += record(of: address) } }
        if isNegative { bytes += authority(for: question) }
        if question.largest != nil { bytes += Self.option(code) }
        return bytes
    }

    private static func header(_ id: UInt16, flags: UInt16, counts: [Int]) -> [UInt8] {
        big16(id) + big16(flags) + counts.flatMap { big16(UInt16(clamping: $0)) }
    }

    /// Returns the resource record of an address. The record's name is a pointer to the name in the question.
    private func record(of address: IPAddress) -> [UInt8] {
        let (type, bytes) = (NameType(address.family).rawValue, address.bytes)
        return Self.reference(to: 0) + Self.big16(type) + Self.big16(Self.start) + Self.big32(timeToLive)
            + Self.big16(UInt16(bytes.count)) + bytes
    }

    /// Returns the SOA record of the name's zone, which is the name's last label. The client uses the record to cache
    /// the negative answer.
    private func authority(for question: NameQuestion) -> [UInt8] {
        let zone = question.lastLabel.map { Self.reference(to: $0) } ?? [0]
        // MNAME and RNAME are the zone itself. They are followed by serial, refresh, retry, expire and minimum.
        let data = zone + zone + [1, 3600, 600, 86_400, timeToLive].flatMap { Self.big32($0) }
        return zone + Self.big16(6) + Self.big16(Self.start) + Self.big32(timeToLive)
            + Self.big16(UInt16(data.count)) + data
    }

    private static func option(_ code: NameResponseCode) -> [UInt8] {
        [0] + big16(optionType) + big16(UInt16(largestDatagram)) + [UInt8(code.rawValue >> 4), 0, 0, 0, 0, 0]
    }

    /// Returns a compression pointer to an offset in the question section.
    private static func reference(to offset: Int) -> [UInt8] {
        big16(0xc000 | UInt16(NameQuestion.headerLength + offset))
    }

    private static func big16(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }

    private static func big32(_ value: UInt32) -> [UInt8] {
        big16(UInt16(value >> 16)) + big16(UInt16(value & 0xffff))
    }
}

/// The types of resource records that contain addresses.
enum NameType: UInt16 {
    case a = 1
    case aaaa = 28

    init(_ family: IPAddress.Family) { self = family == .v4 ? .a : .aaaa }

    var family: IPAddress.Family { self == .a ? .v4 : .v6 }

    /// Returns the name of a record type, such as `AAAA`. For other types, the notation of RFC 3597 is used, such as
    /// `TYPE99`.
    static func text(of type: UInt16) -> String {
        let names: [UInt16: String] = [
            1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 35: "NAPTR",
            64: "SVCB", 65: "HTTPS", 255: "ANY",
        ]
        return names[type] ?? "TYPE\(type)"
    }
}
