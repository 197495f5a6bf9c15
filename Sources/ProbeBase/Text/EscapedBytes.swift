/// Bytes as a script writes them, safe on any terminal and in any report: printable ASCII as it is, the rest escaped.
package enum EscapedBytes {
    /// Without quotes.
    ///
    /// - Parameter limit: bytes shown; what is beyond is counted, not shown.
    package static func text(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        var text = ""
        for byte in bytes.prefix(limit) { text += escape(byte) }
        if bytes.count > limit { text += "… (\(bytes.count - limit) more bytes)" }
        return text
    }

    /// In double quotes; the count of what is not shown stands behind them.
    package static func quoted(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        let shown = "\"\(text(bytes.prefix(limit)))\""
        return bytes.count > limit ? "\(shown)… (\(bytes.count) bytes in all)" : shown
    }

    /// One byte.
    package static func escape(_ byte: UInt8) -> String {
        switch byte {
        case 13: "\\r"
        case 10: "\\n"
        case 9: "\\t"
        case 0: "\\0"
        case 34: "\\\""
        case 92: "\\\\"
        case 32...126: String(UnicodeScalar(byte))
        default: "\\x" + hexDigits(byte)
        }
    }

    private static func hexDigits(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }

    /// Text from outside (a program's output, an adapter's detail) fit for a terminal: control characters, what is invisible
    /// or turns the direction of the text, and bytes that are not UTF-8 are escaped. Other Unicode is kept.
    package static func safeText(_ bytes: some Collection<UInt8>) -> String { Escaped.text(bytes) }

    /// The same for a text.
    package static func safeText(_ text: String) -> String {
        // Most texts, of which there may be thousands.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        }
        return isPlain == true ? text : Escaped.text(text.utf8)
    }
}
