/// The reason why bytes are not JSON text, and the offset of the first wrong byte.
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

    /// The reason as a clause of a sentence.
    package var text: String {
        if offset == 0, reason == .unexpected(0xef) {
            return "it begins with byte 0xef, as a byte order mark (BOM) does; JSON has none"
        }
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
