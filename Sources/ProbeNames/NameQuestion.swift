import ProbeBase

/// A question to a resolver (RFC 1035, section 4). Decoding a message never traps, whatever the message contains.
struct NameQuestion: Equatable {
    /// The ID in the header, which the answer repeats.
    var id: UInt16
    var operation: UInt8
    /// The RD flag: whether recursion is desired. The answer repeats this flag and the CD flag (RFC 4035, section
    /// 3.2.2).
    var isRecursive: Bool
    var isUnchecked: Bool
    /// The bytes of the question section: the name in its original letter case, the type and the class.
    var section: [UInt8]
    var type: UInt16
    /// The name as text, such as `dual.test`, or `.` for the root. A dot within a label is preceded by a backslash.
    var name: String
    /// The offset of the name's last label in the section; `nil` for the root.
    var lastLabel: Int?
    /// The size of the largest answer that the client accepts over UDP (RFC 6891); `nil` without an OPT record.
    var largest: Int?

    /// The name in lower case, because names are compared without regard to case (RFC 4343).
    var key: String { name.lowercased() }

    enum Outcome: Equatable {
        case question(NameQuestion)
        /// A question that is refused. The response consists only of a header with the given code.
        case refused(NameResponseCode, Header)
        /// A message that is not a question: it is an answer, or it is too short to contain a header.
        case nothing
    }

    struct Header: Equatable {
        var id: UInt16
        var flags: UInt16

        var operation: UInt8 { UInt8(truncatingIfNeeded: flags >> 11) & 0xf }
    }

    static let headerLength = 12
    private static let longestName = 255
    private static let internet: UInt16 = 1

    /// Decodes a message.
    static func read(_ message: Span<UInt8>) -> Outcome {
        guard let id = message.big16(at: 0), let flags = message.big16(at: 2), message.count >= headerLength,
            flags & 0x8000 == 0
        else { return .nothing }
        let header = Header(id: id, flags: flags)
        guard header.operation == 0 else { return .refused(.notImplemented, header) }
        guard message.big16(at: 4) == 1, let name = Name(message, at: headerLength),
            let type = message.big16(at: name.end), let kind = message.big16(at: name.end + 2)
        else { return .refused(.formatError, header) }
        let end = name.end + 4
        var question = NameQuestion(
            id: id, operation: header.operation, isRecursive: flags & 0x0100 != 0, isUnchecked: flags & 0x0010 != 0,
            section: message.extracting(headerLength..<end).array, type: type, name: name.text,
            lastLabel: name.lastLabel.map { $0 - headerLength }, largest: nil)
        switch extensions(message, from: end) {
        case .malformed: return .refused(.formatError, header)
        case .none: break
        case .unknownVersion: return .refused(.badVersion, header)
        case .size(let size): question.largest = max(512, Int(size))
        }
        guard kind == internet else { return .refused(.refused, header) }
        return .question(question)
    }

    // MARK: Names

    private struct Name {
        var text = ""
        var end = 0
        var lastLabel: Int?

        /// Decodes an uncompressed name. The first name of a message can't be compressed, because no name precedes it.
        init?(_ message: Span<UInt8>, at start: Int) {
            var place = start
            while true {
                guard let length = message.byte(at: place).map(Int.init) else { return nil }
                if length == 0 { break }
                guard length < 64, place + 1 + length <= message.count, place + length - start < longestName - 1 else {
                    return nil
                }
                if lastLabel != nil { text += "." }
                lastLabel = place
                for offset in place + 1..<place + 1 + length {
                    let byte = message[offset]
                    text += (byte == UInt8(ascii: ".") ? "\\" : "") + Escaped.text([byte])
                }
                place += 1 + length
            }
            end = place + 1
            if lastLabel == nil { text = "." }
        }
    }

    /// Returns the offset after the name of a record; the name may end in a compression pointer.
    private static func end(ofName message: Span<UInt8>, at start: Int) -> Int? {
        var place = start
        while let length = message.byte(at: place) {
            switch length {
            case 0: return place + 1
            case 1..<64: place += 1 + Int(length)
            case 0xc0...: return place + 2
            default: return nil
            }
        }
        return nil
    }

    // MARK: Extensions

    private enum Extensions {
        case none, malformed, unknownVersion
        case size(UInt16)
    }

    /// Finds the OPT record among the records that follow the question.
    private static func extensions(_ message: Span<UInt8>, from start: Int) -> Extensions {
        var found = Extensions.none
        var place = start
        let counts = [6, 8, 10].map { Int(message.big16(at: $0) ?? 0) }
        for number in 0..<counts.reduce(0, +) {
            // The name of an OPT record is the root, which is a single byte.
            guard let name = end(ofName: message, at: place), let type = message.big16(at: name),
                let size = message.big16(at: name + 2), let version = message.byte(at: name + 5),
                let length = message.big16(at: name + 8), name + 10 + Int(length) <= message.count
            else { return .malformed }
            if type == 41 {
                let isAdditional = number >= counts[0] + counts[1]
                guard case .none = found, isAdditional, name == place + 1 else { return .malformed }
                found = version == 0 ? .size(size) : .unknownVersion
            }
            place = name + 10 + Int(length)
        }
        return found
    }
}

/// The response codes of answers (RFC 1035, section 4.1.1; RFC 6891, section 9).
enum NameResponseCode: UInt16 {
    case noError = 0
    case formatError = 1
    case serverFailure = 2
    case noSuchName = 3
    case notImplemented = 4
    case refused = 5
    case badVersion = 16
}
