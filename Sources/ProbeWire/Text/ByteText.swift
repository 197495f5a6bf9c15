/// Bytes as a person reads them, in the notation of the scenario language.
package enum ByteText {
    /// `"220 rea\r\n"`: printable ASCII as it is, `\r \n \t \0 \\ \"`, everything else `\xHH`. Of more than `limit` bytes the
    /// first ones, then how many there are: `"aaaa"… (5000 bytes)`. No control byte gets through.
    package static func quoted(_ bytes: some Collection<UInt8>, limit: Int = 64) -> String {
        var text = "\""
        for byte in bytes.prefix(max(limit, 0)) { append(byte, to: &text) }
        text += "\""
        if bytes.count > max(limit, 0) { text += "… (\(count(bytes.count, "byte")))" }
        return text
    }

    package static func quoted(_ bytes: Span<UInt8>, limit: Int = 64) -> String {
        var text = "\""
        for index in 0..<min(bytes.count, max(limit, 0)) { append(bytes[index], to: &text) }
        text += "\""
        if bytes.count > max(limit, 0) { text += "… (\(count(bytes.count, "byte")))" }
        return text
    }

    /// `1 byte`, `2 bytes`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")"
    }

    private static let digits = Array("0123456789abcdef".unicodeScalars)

    private static func append(_ byte: UInt8, to text: inout String) {
        switch byte {
        case 0x0d: text += "\\r"
        case 0x0a: text += "\\n"
        case 0x09: text += "\\t"
        case 0x00: text += "\\0"
        case 0x5c: text += "\\\\"
        case 0x22: text += "\\\""
        case 0x20...0x7e: text.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            text += "\\x"
            text.unicodeScalars.append(digits[Int(byte >> 4)])
            text.unicodeScalars.append(digits[Int(byte & 15)])
        }
    }
}
