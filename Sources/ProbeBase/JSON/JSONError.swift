/// The reason why bytes are not a JSON text, and the offset of the first invalid byte.
package struct JSONError: Error, Equatable {
    package enum Reason: Equatable, Sendable {
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

    package let reason: Reason
    package let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset, worded to follow a colon.
    package var text: String {
        if offset == 0, reason == .unexpected(0xef) {
            return "it begins with byte 0xef, as in a byte order mark (BOM), which JSON does not allow"
        }
        let what =
            switch reason {
            case .unexpectedEnd: "unexpected end"
            case .unexpected(let byte):
                (0x21...0x7e).contains(byte)
                    ? "unexpected `\(String(UnicodeScalar(byte)))`"
                    : "unexpected byte 0x\(String(byte, radix: 16))"
            case .trailing: "unexpected data after the value"
            case .tooDeep: "a value is nested too deeply"
            case .invalidUTF8: "invalid UTF-8"
            case .controlInString: "unescaped control character in a string"
            case .invalidEscape: "invalid escape"
            case .loneSurrogate: "unpaired surrogate"
            case .invalidNumber: "invalid number"
            case .duplicateName: "duplicate name in an object"
            }
        return "\(what) at offset \(offset)"
    }
}
