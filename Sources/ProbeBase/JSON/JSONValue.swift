import CBytes

/// A JSON value (RFC 8259). The members of an object keep their order.
package enum JSONValue: Sendable {
    /// A member of an object.
    package typealias Member = (key: String, value: JSONValue)

    case null
    case boolean(Bool)
    case integer(Int)
    /// A number with a fraction or an exponent, or one that does not fit into `Int`.
    case number(Double)
    case string(String)
    /// Bytes as a string of U+0000 to U+00FF. For encoding only: `JSONParser` returns `string`.
    case latin1([UInt8])
    case array([JSONValue])
    case object([Member])

    /// The member with this name; nil if there is none or the value is no object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    /// Nil if the value is no string.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Nil if the value is no integer.
    package var integer: Int? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The bytes of a string of U+0000 to U+00FF; nil for any other value.
    package var latin1: [UInt8]? {
        guard case .string(let text) = self else { return nil }
        let utf8 = Array(text.utf8)
        // All characters are below U+0080, so these are the bytes.
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

    /// The kind of value, for messages.
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
