import CBytes

extension JSONValue {
    /// Which characters of a string are written unescaped. The others are escaped, so that the text has no line break
    /// and is safe on a terminal.
    package enum Characters: Sendable {
        /// Printable ASCII: the text is pure ASCII.
        case ascii
        /// Every visible character (`UnicodeScalar.isVisible`): the text is UTF-8.
        case visible
    }

    /// The value on one line, members in their order.
    package func encoded(_ characters: Characters = .visible) -> [UInt8] {
        var text: [UInt8] = []
        append(to: &text, characters)
        return text
    }

    /// Appends the value to a text.
    package func append(to text: inout [UInt8], _ characters: Characters = .visible) {
        switch self {
        case .null: text.append(text: "null")
        case .boolean(let value): text.append(text: value ? "true" : "false")
        case .integer(let number): text.append(decimal: number)
        // JSON can't express infinity or NaN.
        case .number(let number): text.append(text: number.isFinite ? "\(number)" : "null")
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
                // A character that needs an escape or a check: one to four bytes.
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

    /// Takes the characters without an escape, which are most of a string, at once. Returns the byte after them, nil at
    /// the end.
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
