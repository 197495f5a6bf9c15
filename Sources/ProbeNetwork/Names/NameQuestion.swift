import ProbeBase

/// A question that a resolver is asked (RFC 1035, 4). Reads any bytes, and never traps.
struct NameQuestion: Equatable {
    /// Of the header: what the answer repeats.
    var id: UInt16
    var operation: UInt8
    /// The asker wants a resolver to look further (RD); repeated in the answer, as is CD (RFC 4035, 3.2.2).
    var isRecursive: Bool
    var isUnchecked: Bool
    /// The section as it was asked, with the letters as they were: name, type and class.
    var section: [UInt8]
    var type: UInt16
    /// The name in words: `dual.test`; `.` for the root. A dot within a label has a backslash before it.
    var name: String
    /// Where the name's last label begins, in the section; nil for the root.
    var lastLabel: Int?
    /// The largest answer that the asker takes by UDP (RFC 6891); nil without an OPT record.
    var largest: Int?

    /// Names are compared without regard to case (RFC 4343).
    var key: String { name.lowercased() }

    enum Outcome: Equatable {
        case question(NameQuestion)
        /// It is answered with this code and nothing else.
        case refused(NameResponseCode, Header)
        /// It is no question: an answer, or too short for a header.
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

    /// Reads a message.
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

        /// Without compression: nothing stands before the first name that it could refer to.
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

    /// Behind a name of any record; it may end in a reference to another one.
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

    /// The OPT record among those behind the question.
    private static func extensions(_ message: Span<UInt8>, from start: Int) -> Extensions {
        var found = Extensions.none
        var place = start
        let counts = [6, 8, 10].map { Int(message.big16(at: $0) ?? 0) }
        for number in 0..<counts.reduce(0, +) {
            // The root is one byte.
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

/// The codes of answers (RFC 1035, 4.1.1; RFC 6891, 9).
enum NameResponseCode: UInt16 {
    case noError = 0
    case formatError = 1
    case serverFailure = 2
    case noSuchName = 3
    case notImplemented = 4
    case refused = 5
    case badVersion = 16
}
