extension ByteRegex {
    /// A pattern, in ASCII, that matches exactly these bytes: letters, digits and `_` as they are, all else as `\xHH` or,
    /// where it is printable, with a `\` before it.
    package static func quoting(_ bytes: some Sequence<UInt8>) -> String {
        var pattern = ""
        for byte in bytes {
            switch byte {
            case _ where ByteSet.word.contains(byte): pattern.unicodeScalars.append(UnicodeScalar(byte))
            case 0x21...0x7E:
                pattern += "\\"
                pattern.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16)
                pattern += digits.count < 2 ? "\\x0" : "\\x"
                pattern += digits
            }
        }
        return pattern
    }
}
