import ProbeBase
import CShims

/// A JSON text (RFC 8259) as the adapter protocol uses it. Strings are kept as the UTF-8 that they stand for.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A number with a fraction or an exponent, or one that no `Int` holds.
    case number(Double)
    case string([UInt8])
    case array([JSONValue])
    case object([[UInt8]: JSONValue])

    subscript(_ name: StaticString) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return name.withUTF8Buffer { members[Array($0)] }
    }

    /// nil for anything but a string.
    var text: String? {
        guard case .string(let utf8) = self else { return nil }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// nil for anything but a whole number.
    var integer: Int? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The bytes that a string of U+0000 to U+00FF stands for; nil when it is none.
    var latin1: [UInt8]? {
        guard case .string(let utf8) = self else { return nil }
        // All of it below U+0080: the bytes are those.
        if utf8.withUnsafeBytes({ probe_plain_json($0.baseAddress, $0.count) }) == utf8.count { return utf8 }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var high: UInt8?
        for byte in utf8 {
            if let first = high {
                bytes.append(first << 6 | byte & 0x3f)
                high = nil
            } else if byte < 0x80 {
                bytes.append(byte)
            } else if byte == 0xc2 || byte == 0xc3 {
                high = byte & 0x03
            } else {
                return nil
            }
        }
        return bytes
    }

    /// What it is, for a message.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Why bytes are no JSON text, and at which byte that shows.
struct JSONError: Error, Equatable {
    enum Reason: Equatable {
        case unexpectedEnd
        case unexpected(UInt8)
        case trailing
        case tooDeep
        case invalidUTF8
        case controlInString
        case invalidEscape
        case loneSurrogate
        case invalidNumber
        case duplicateName
    }

    var reason: Reason
    var offset: Int

    /// One clause.
    var text: String {
        let what =
            switch reason {
            case .unexpectedEnd: "it ends too early"
            case .unexpected(let byte):
                (0x21...0x7e).contains(byte)
                    ? "`\(String(UnicodeScalar(byte)))` is not expected"
                    : "byte 0x\(String(byte, radix: 16)) is not expected"
            case .trailing: "something follows the value"
            case .tooDeep: "it is nested too deeply"
            case .invalidUTF8: "it is not UTF-8"
            case .controlInString: "a control character in a string must be escaped"
            case .invalidEscape: "there is no such escape"
            case .loneSurrogate: "half of a surrogate pair stands alone"
            case .invalidNumber: "that is no number"
            case .duplicateName: "a name comes twice in one object"
            }
        return "\(what), at byte \(offset)"
    }
}
