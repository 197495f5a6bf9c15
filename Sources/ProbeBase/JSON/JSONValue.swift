import CBytes

/// A JSON value (RFC 8259). The order of an object's members is preserved.
package enum JSONValue: Sendable {
    /// A member of an object.
    package typealias Member = (key: String, value: JSONValue)

    case null
    case boolean(Bool)
    case integer(Int)
    /// A number with a fraction or an exponent, or a number outside the range of `Int`.
    case number(Double)
    /// A duration in seconds, written with exactly nine decimals, so that sums of durations are exact.
    case seconds(nanoseconds: Int64)
    case string(String)
    /// Bytes, encoded as a string of the characters U+0000 to U+00FF. The parser never creates `latin1`, because it
    /// represents every string as `string`.
    case latin1([UInt8])
    case array([JSONValue])
    case object([Member])

    /// Returns the value of the member with this name; `nil` if this value is not an object or has no such member.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    /// The string; `nil` if the value is not a string.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The integer; `nil` if the value is not an integer.
    package var integer: Int? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The bytes that a string of the characters U+0000 to U+00FF represents; `nil` for any other value.
    package var latin1: [UInt8]? {
        guard case .string(let text) = self else { return nil }
        let utf8 = Array(text.utf8)
        // If all characters are below U+0080, the result is their UTF-8 encoding.
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

    /// The kind of value with its article, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number, .seconds: "a number"
        case .string, .latin1: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// The set of characters that are written unescaped. All other characters are escaped, so the text contains no line
    /// break and is safe to print on a terminal.
    package enum Characters: Sendable {
        /// Printable ASCII characters are written unescaped, so the text is pure ASCII.
        case ascii
        /// All visible characters (`UnicodeScalar.isVisible`) are written unescaped, so the text is UTF-8.
        case visible
    }

    /// Returns the value as JSON text on one line.
    package func encoded(_ characters: Characters = .visible) -> [UInt8] {
        var text: [UInt8] = []
        append(to: &text, characters)
        return text
    }

    /// Appends the value as JSON text.
    package func append(to text: inout [UInt8], _ characters: Characters = .visible) {
        switch self {
        case .null: text.append(text: "null")
        case .boolean(let value): text.append(text: value ? "true" : "false")
        case .integer(let number): text.append(decimal: number)
        // JSON has no representation of infinity or NaN.
        case .number(let number): text.append(text: number.isFinite ? "\(number)" : "null")
        case .seconds(let nanoseconds):
            let decimals = String(nanoseconds.magnitude % 1_000_000_000)
            let zeros = String(repeating: "0", count: 9 - decimals.count)
            text.append(
                text: "\(nanoseconds < 0 ? "-" : "")\(nanoseconds.magnitude / 1_000_000_000).\(zeros)\(decimals)")
        case .string(let string): JSONValue.append(string, to: &text, characters)
        case .latin1(let bytes): JSONValue.append(latin1: bytes, to: &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.append(to: &text, characters)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                JSONValue.append(member.key, to: &text, characters)
                text.append(UInt8(ascii: ":"))
                member.value.append(to: &text, characters)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ string: String, to text: inout [UInt8], _ characters: Characters) {
        text.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { utf8 in
            var rest = UnsafeRawBufferPointer(utf8)
            while let plain = appendPlain(&rest, to: &text) {
                // The next character, of one to four bytes, may need an escape.
                let length = max(1, min((~plain).leadingZeroBitCount, rest.count))
                let character = String(decoding: rest[..<length], as: UTF8.self)
                for scalar in character.unicodeScalars { append(scalar, to: &text, characters) }
                rest = UnsafeRawBufferPointer(rebasing: rest[length...])
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func append(latin1 bytes: [UInt8], to text: inout [UInt8]) {
        text.reserveCapacity(text.count + bytes.count + 64)
        text.append(UInt8(ascii: "\""))
        bytes.withUnsafeBytes { buffer in
            var rest = buffer
            while let byte = appendPlain(&rest, to: &text) {
                append(UnicodeScalar(byte), to: &text, .ascii)
                rest = UnsafeRawBufferPointer(rebasing: rest[1...])
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Appends, in a single operation, a run of characters that need no escape; most strings consist mainly of such
    /// runs. Returns the byte after the run, or `nil` at the end.
    private static func appendPlain(_ rest: inout UnsafeRawBufferPointer, to text: inout [UInt8]) -> UInt8? {
        guard let base = rest.baseAddress, rest.count > 0 else { return nil }
        let plain = probe_plain_json(base, rest.count)
        text.append(contentsOf: rest[..<plain])
        rest = UnsafeRawBufferPointer(rebasing: rest[plain...])
        return rest.first
    }

    private static func append(_ scalar: UnicodeScalar, to text: inout [UInt8], _ characters: Characters) {
        switch scalar {
        case "\"", "\\": text += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
        case "\n": text += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        case "\r": text += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
        case "\t": text += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
        case _ where characters == .visible && scalar.isVisible: text.append(contentsOf: scalar.utf8)
        default:
            for unit in scalar.utf16 {
                text += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
                for shift in [12, 8, 4, 0] { text.append(UInt8.hexDigits[Int(unit >> shift & 15)]) }
            }
        }
    }
}
