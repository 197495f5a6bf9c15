import ProbeBase

/// Converts between paths and file URIs (RFC 8089).
enum DocumentPath {
    /// Returns the path of a `file:` URI; `nil` for another scheme, a file on another machine, or an invalid path.
    static func path(of uri: String) -> String? {
        let bytes = Array(uri.utf8)
        guard bytes.count > 5, String(decoding: bytes[..<5], as: UTF8.self).lowercased() == "file:" else { return nil }
        var rest = bytes[5...]
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || String(decoding: host, as: UTF8.self).lowercased() == "localhost" else { return nil }
            rest = rest.dropFirst(host.count)
        }
        guard rest.first == UInt8(ascii: "/"), let decoded = decoded(rest), !decoded.contains(0),
            UTF8Check.firstInvalidOffset(in: decoded.span) == nil
        else { return nil }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            // `?` and `#` are treated as part of the name even if the editor does not escape them, because the URI of a
            // script has no query or fragment.
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                index += 1
                continue
            }
            guard index + 2 < text.endIndex, let high = text[index + 1].hexDigit, let low = text[index + 2].hexDigit
            else { return nil }
            result.append(UInt8(high) << 4 | UInt8(low))
            index += 3
        }
        return result
    }

    /// Returns the URI of an absolute path.
    static func uri(of path: String) -> String {
        var text: [UInt8] = Array("file://".utf8)
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 48...57,
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), UInt8.upperHexDigits[Int(byte >> 4)], UInt8.upperHexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UInt8 {
    /// The digits of percent-encoding, which are in upper case as RFC 3986 recommends.
    fileprivate static let upperHexDigits = Array("0123456789ABCDEF".utf8)
}
