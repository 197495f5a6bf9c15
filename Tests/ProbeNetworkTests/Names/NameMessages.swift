import ProbeBase
@testable import ProbeNames

/// DNS queries in the form in which programs send them, built byte by byte.
enum NameMessages {
    static func question(
        _ name: String, type: UInt16 = 1, kind: UInt16 = 1, id: UInt16 = 0x1234, flags: UInt16 = 0x0100,
        counts: [UInt16] = [1, 0, 0, 0], tail: [UInt8] = []
    ) -> [UInt8] {
        big16(id) + big16(flags) + counts.flatMap(big16) + encoded(name) + big16(type) + big16(kind) + tail
    }

    static func encoded(_ name: String) -> [UInt8] {
        name.utf8.split(separator: UInt8(ascii: ".")).flatMap { [UInt8($0.count)] + Array($0) } + [0]
    }

    /// Returns an OPT record (RFC 6891).
    static func option(size: UInt16, version: UInt8 = 0, data: [UInt8] = []) -> [UInt8] {
        [0] + big16(41) + big16(size) + [0, version, 0, 0] + big16(UInt16(data.count)) + data
    }

    static func big16(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
}

/// The contents of an answer, decoded independently of the code under test. The decoder follows compression pointers.
struct ReadAnswer: Equatable {
    struct Record: Equatable {
        var name: String
        var type: UInt16
        var kind: UInt16
        var timeToLive: UInt32
        var data: [UInt8]
    }

    var id: UInt16
    var flags: UInt16
    var question: [UInt8]
    var answers: [Record] = []
    var authorities: [Record] = []
    var additions: [Record] = []

    /// Decodes an answer; `nil` if the bytes are not a message, or if further bytes follow the message.
    init?(_ bytes: [UInt8]) {
        func number(_ place: Int) -> UInt16? {
            place + 1 < bytes.count ? UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]) : nil
        }
        guard let id = number(0), let flags = number(2), bytes.count >= 12 else { return nil }
        (self.id, self.flags, question) = (id, flags, [])
        var place = 12
        func name() -> String? {
            var labels: [String] = []
            var end: Int?
            var at = place
            for _ in 0..<200 {
                guard at < bytes.count else { return nil }
                let length = Int(bytes[at])
                if length == 0 {
                    place = end ?? at + 1
                    return labels.joined(separator: ".")
                }
                if length >= 0xc0 {
                    guard let reference = number(at) else { return nil }
                    end = end ?? at + 2
                    at = Int(reference & 0x3fff)
                } else {
                    guard at + 1 + length <= bytes.count else { return nil }
                    labels.append(String(decoding: bytes[at + 1..<at + 1 + length], as: UTF8.self))
                    at += 1 + length
                }
            }
            return nil
        }
        for _ in 0..<(number(4) ?? 0) {
            let start = place
            guard name() != nil, place + 4 <= bytes.count else { return nil }
            place += 4
            question += bytes[start..<place]
        }
        var sections: [[Record]] = []
        for section in 0..<3 {
            var records: [Record] = []
            for _ in 0..<(number(6 + 2 * section) ?? 0) {
                guard let name = name(), let type = number(place), let kind = number(place + 2),
                    let high = number(place + 4), let low = number(place + 6), let length = number(place + 8),
                    place + 10 + Int(length) <= bytes.count
                else { return nil }
                let data = Array(bytes[place + 10..<place + 10 + Int(length)])
                records.append(
                    Record(
                        name: name, type: type, kind: kind, timeToLive: UInt32(high) << 16 | UInt32(low), data: data))
                place += 10 + Int(length)
            }
            sections.append(records)
        }
        guard place == bytes.count else { return nil }
        (answers, authorities, additions) = (sections[0], sections[1], sections[2])
    }

    /// The response code: the last four bits of the flags.
    var code: UInt16 { flags & 0xf }
    var isCut: Bool { flags & 0x0200 != 0 }
}
