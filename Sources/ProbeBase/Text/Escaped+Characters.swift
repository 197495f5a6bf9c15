extension Escaped {
    /// Bytes in double quotes, for people: each valid character that is visible as it is, `"anna: Jörg"`; everything else as in ``bytes(_:limit:)``,
    /// for example the first byte of a character that is cut: `"J\xc3"`.
    package static func characters(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        var text: [UInt8] = [UInt8(ascii: "\"")]
        text.reserveCapacity(bytes.count + 16)
        var index = 0
        while index < bytes.count {
            let length = characterLength(bytes[index...])
            if length > 1 {
                let character = String(decoding: bytes[index..<index + length], as: UTF8.self)
                if character.unicodeScalars.allSatisfy(\.isVisible) {
                    text.append(contentsOf: bytes[index..<index + length])
                    index += length
                    continue
                }
            }
            append(bytes[index], to: &text)
            index += 1
        }
        text.append(UInt8(ascii: "\""))
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of the character that begins here; 1 if none of several bytes does.
    private static func characterLength(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        guard length > 1, bytes.count >= length else { return 1 }
        return UTF8Check.firstInvalidOffset(in: Array(bytes.prefix(length)).span) == nil ? length : 1
    }
}
