/// Bytes as a person reads them, in the notation of the scenario language.
package enum ByteText {
    /// `"220 rea\r\n"`: printable ASCII as it is, `\r \n \t \0 \\ \"`, everything else `\xHH`. Of more than `limit` bytes the
    /// first ones, then how many there are: `"aaaa"… (5000 bytes)`. No control byte gets through.
    package static func quoted(_ bytes: some Collection<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        append(bytes, limit: limit, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package static func quoted(_ bytes: Span<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        append(bytes.extracting(0..<min(bytes.count, max(limit, 0))).array, of: bytes.count, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// What `quoted` says of them.
    static func append(_ bytes: some Collection<UInt8>, limit: Int, to text: inout [UInt8]) {
        append(bytes.prefix(max(limit, 0)), of: bytes.count, to: &text)
    }

    private static func append(_ head: some Collection<UInt8>, of count: Int, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + head.count + 24)
        text.append(0x22)
        for byte in head { append(byte, to: &text) }
        text.append(0x22)
        if count > head.count { text.append(text: "… (\(self.count(count, "byte")))") }
    }

    /// `1 byte`, `2 bytes`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")"
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func append(_ byte: UInt8, to text: inout [UInt8]) {
        switch byte {
        case 0x0d: escape(UInt8(ascii: "r"), to: &text)
        case 0x0a: escape(UInt8(ascii: "n"), to: &text)
        case 0x09: escape(UInt8(ascii: "t"), to: &text)
        case 0x00: escape(UInt8(ascii: "0"), to: &text)
        case 0x5c, 0x22: escape(byte, to: &text)
        case 0x20...0x7e: text.append(byte)
        default:
            escape(UInt8(ascii: "x"), to: &text)
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }

    private static func escape(_ letter: UInt8, to text: inout [UInt8]) {
        text.append(0x5c)
        text.append(letter)
    }
}
