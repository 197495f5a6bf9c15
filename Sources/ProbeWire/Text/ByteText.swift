/// Bytes as a person reads them, in the notation of the scenario language.
package enum ByteText {
    /// `"220 rea\r\n"`: printable ASCII as it is, `\r \n \t \0 \\ \"`, everything else `\xHH`. Of more than `limit` bytes the
    /// first ones, then how many there are: `"aaaa"… (5000 bytes)`. No control byte gets through.
    package static func quoted(_ bytes: some Collection<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = [0x22]
        for byte in bytes.prefix(max(limit, 0)) { append(byte, to: &text) }
        return finished(&text, count: bytes.count, limit: limit)
    }

    package static func quoted(_ bytes: Span<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = [0x22]
        for index in 0..<min(bytes.count, max(limit, 0)) { append(bytes[index], to: &text) }
        return finished(&text, count: bytes.count, limit: limit)
    }

    private static func finished(_ text: inout [UInt8], count: Int, limit: Int) -> String {
        text.append(0x22)
        let quoted = String(decoding: text, as: UTF8.self)
        return count > max(limit, 0) ? "\(quoted)… (\(self.count(count, "byte")))" : quoted
    }

    /// `1 byte`, `2 bytes`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")"
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func append(_ byte: UInt8, to text: inout [UInt8]) {
        switch byte {
        case 0x0d: text += [0x5c, 0x72]
        case 0x0a: text += [0x5c, 0x6e]
        case 0x09: text += [0x5c, 0x74]
        case 0x00: text += [0x5c, 0x30]
        case 0x5c, 0x22: text += [0x5c, byte]
        case 0x20...0x7e: text.append(byte)
        default: text += [0x5c, 0x78, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}
