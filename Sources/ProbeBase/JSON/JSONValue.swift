import CBytes

/// A JSON value (RFC 8259). The members of an object keep their order.
package enum JSONValue: Sendable {
    /// A member of an object.
    package typealias Member = (key: String, value: JSONValue)

    case null
    case boolean(Bool)
    case integer(Int)
    /// A number with a fraction or an exponent, or one that no `Int` holds.
    case number(Double)
    case string(String)
    /// Bytes as a string of U+0000 to U+00FF. Only for writing: `JSONParser` makes a `string` of each.
    case latin1([UInt8])
    case array([JSONValue])
    case object([Member])

    /// The member of that name; nil where there is none, and for anything but an object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    /// nil for anything but a string.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// nil for anything but a whole number.
    package var integer: Int? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The bytes that a string of U+0000 to U+00FF stands for; nil for anything else.
    package var latin1: [UInt8]? {
        guard case .string(let text) = self else { return nil }
        let utf8 = Array(text.utf8)
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
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number: "a number"
        case .string, .latin1: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
